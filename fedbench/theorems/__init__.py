"""Theorems as numbers: one module a theorem, found by name (``<method>_<topic>.py``), nothing is listed.

A module has ``THEOREM`` (its name in the paper), ``SAYS`` (the theorem in a sentence or two) and ``measure()``, which
yields `fedbench.theorems._row.Row`: what was claimed, what was measured and whether the claim holds. It may
have a plot: ``curves()``, x and y of each line by its name, and ``AXES``, both axes' names. Modules whose names begin
with an underscore are no theorems.
"""
