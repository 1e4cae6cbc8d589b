use rule train as train_gcfl_plus with:
    pathvars:
        method="gcfl_plus",
    params:
        **run_of("gcfl_plus"),
