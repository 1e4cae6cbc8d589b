use rule train as train_fedpub_rec with:
    pathvars:
        method="fedpub_rec",
    params:
        **run_of("fedpub_rec"),
