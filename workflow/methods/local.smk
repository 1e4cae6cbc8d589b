use rule train as train_local with:
    pathvars:
        method="local",
    params:
        **run_of("local"),
