use rule train as train_gfcf with:
    pathvars:
        method="gfcf",
    params:
        **run_of("gfcf"),
