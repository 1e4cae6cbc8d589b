use rule train as train_centralised with:
    pathvars:
        method="centralised",
    params:
        **run_of("centralised"),
