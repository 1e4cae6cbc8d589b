use rule train as train_gcfl with:
    pathvars:
        method="gcfl",
    params:
        **run_of("gcfl"),
