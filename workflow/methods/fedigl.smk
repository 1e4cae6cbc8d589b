use rule train as train_fedigl with:
    pathvars:
        method="fedigl",
    params:
        **run_of("fedigl"),
