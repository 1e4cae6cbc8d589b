"""Partitions of the task `graph`: which graph belongs to which client, and what for."""
