use rule train as train_lpsfed with:
    pathvars:
        method="lpsfed",
    params:
        **run_of("lpsfed"),
