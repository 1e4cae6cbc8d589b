use rule train as train_pfedrec with:
    pathvars:
        method="pfedrec",
    params:
        **run_of("pfedrec"),
