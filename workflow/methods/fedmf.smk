use rule train as train_fedmf with:
    pathvars:
        method="fedmf",
    params:
        **run_of("fedmf"),
