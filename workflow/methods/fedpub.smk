use rule train as train_fedpub with:
    pathvars:
        method="fedpub",
    params:
        **run_of("fedpub"),
