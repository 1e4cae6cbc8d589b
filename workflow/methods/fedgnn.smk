use rule train as train_fedgnn with:
    pathvars:
        method="fedgnn",
    params:
        **run_of("fedgnn"),
