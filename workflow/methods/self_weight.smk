use rule train as train_self_weight with:
    pathvars:
        method="self_weight",
    params:
        **run_of("self_weight"),
