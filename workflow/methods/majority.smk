use rule train as train_majority with:
    pathvars:
        method="majority",
    params:
        **run_of("majority"),
