use rule train as train_apple with:
    pathvars:
        method="apple",
    params:
        **run_of("apple"),
