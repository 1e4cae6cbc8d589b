use rule train as train_afl with:
    pathvars:
        method="afl",
    params:
        **run_of("afl"),
