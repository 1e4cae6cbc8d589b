use rule train as train_popularity with:
    pathvars:
        method="popularity",
    params:
        **run_of("popularity"),
