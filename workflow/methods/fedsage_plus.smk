use rule train as train_fedsage_plus with:
    pathvars:
        method="fedsage_plus",
    params:
        **run_of("fedsage_plus"),
