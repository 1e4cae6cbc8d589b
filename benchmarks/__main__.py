"""`python -m benchmarks [names]`, the same as `python -m benchmarks.run`."""

from benchmarks.run import main

main()
