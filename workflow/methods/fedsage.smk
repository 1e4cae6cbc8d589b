use rule train as train_fedsage with:
    pathvars:
        method="fedsage",
    params:
        **run_of("fedsage"),
