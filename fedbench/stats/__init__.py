"""Figures read off records: selection of rounds, spread over seeds, rank correlation."""
