use rule train as train_fedssp with:
    pathvars:
        method="fedssp",
    params:
        **run_of("fedssp"),
