"""From run records to figures: selection, spread, verdicts, rank correlation, paired differences."""
