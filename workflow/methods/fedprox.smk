use rule train as train_fedprox with:
    pathvars:
        method="fedprox",
    params:
        **run_of("fedprox"),
