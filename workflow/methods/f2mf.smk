use rule train as train_f2mf with:
    pathvars:
        method="f2mf",
    params:
        **run_of("f2mf"),
