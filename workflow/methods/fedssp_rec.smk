use rule train as train_fedssp_rec with:
    pathvars:
        method="fedssp_rec",
    params:
        **run_of("fedssp_rec"),
