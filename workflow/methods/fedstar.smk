use rule train as train_fedstar with:
    pathvars:
        method="fedstar",
    params:
        **run_of("fedstar"),
