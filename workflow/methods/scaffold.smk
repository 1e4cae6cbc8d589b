use rule train as train_scaffold with:
    pathvars:
        method="scaffold",
    params:
        **run_of("scaffold"),
