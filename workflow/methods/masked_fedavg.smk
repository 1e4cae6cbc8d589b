use rule train as train_masked_fedavg with:
    pathvars:
        method="masked_fedavg",
    params:
        **run_of("masked_fedavg"),
