"""Loaders: raw files to one canonical data set file."""
