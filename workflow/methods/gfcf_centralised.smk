use rule train as train_gfcf_centralised with:
    pathvars:
        method="gfcf_centralised",
    params:
        **run_of("gfcf_centralised"),
