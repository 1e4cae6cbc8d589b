use rule train as train_fedaux with:
    pathvars:
        method="fedaux",
    params:
        **run_of("fedaux"),
