"""Federated methods, one file each, found by name."""
