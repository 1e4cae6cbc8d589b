use rule train as train_fedhgnn with:
    pathvars:
        method="fedhgnn",
    params:
        **run_of("fedhgnn"),
