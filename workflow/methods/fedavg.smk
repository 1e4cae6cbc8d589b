use rule train as train_fedavg with:
    pathvars:
        method="fedavg",
    params:
        **run_of("fedavg"),
