use rule train as train_q_fedavg with:
    pathvars:
        method="q_fedavg",
    params:
        **run_of("q_fedavg"),
