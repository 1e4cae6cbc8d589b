"""Recommendation: a client holds users, items and who took what; loss is BPR, metrics are those of a full ranking."""
