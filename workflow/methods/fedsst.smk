use rule train as train_fedsst with:
    pathvars:
        method="fedsst",
    params:
        **run_of("fedsst"),
