use rule train as train_fedgta with:
    pathvars:
        method="fedgta",
    params:
        **run_of("fedgta"),
