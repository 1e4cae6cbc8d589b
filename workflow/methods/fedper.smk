use rule train as train_fedper with:
    pathvars:
        method="fedper",
    params:
        **run_of("fedper"),
