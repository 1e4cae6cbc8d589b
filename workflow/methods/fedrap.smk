use rule train as train_fedrap with:
    pathvars:
        method="fedrap",
    params:
        **run_of("fedrap"),
