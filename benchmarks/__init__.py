"""Speed measured side by side: `python -m benchmarks.run` (or `make bench`) writes `reports/benchmarks.csv`."""
