"""fedbench: a reproducible benchmark suite for federated graph learning and recommendation."""

__version__ = "0.1.0"
