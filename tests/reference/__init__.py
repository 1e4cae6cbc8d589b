"""A plain program for every method: one client after another, PyG layers, torch's own Adam.

It shares with the suite only what an experiment fixes from outside: data, initial weights and dropout masks.
"""
