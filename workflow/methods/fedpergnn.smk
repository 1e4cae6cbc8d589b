use rule train as train_fedpergnn with:
    pathvars:
        method="fedpergnn",
    params:
        **run_of("fedpergnn"),
