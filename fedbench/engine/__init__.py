"""Rounds: local training of packed clients, mixing, evaluation, accounting."""
