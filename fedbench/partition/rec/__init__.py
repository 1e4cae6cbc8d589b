"""Cutting a user-item data set into clients, and checking and describing the cut."""
