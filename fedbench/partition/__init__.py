"""Cutting a data set into clients, and checking and describing the cut."""
