"""One module a benchmark, found by file name; each has `run(place) -> list[Result]`."""
