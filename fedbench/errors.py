"""Errors that say what was asked, what was found, what is allowed and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FedbenchError(Exception):
    """A failure a user can act on; the command line prints it without a traceback.

    Args:
        asked: what the user or the caller wanted.
        found: what was there instead.
        allowed: what would have been accepted.
        remedy: what to do now.
    """

    def __init__(self, asked: str, *, found: str = "", allowed: str = "", remedy: str = "") -> None:
        self.asked, self.found, self.allowed, self.remedy = asked, found, allowed, remedy
        parts = {"asked": asked, "found": found, "allowed": allowed, "to do": remedy}
        super().__init__("\n".join(f"{name:>7}: {text}" for name, text in parts.items() if text))


class ConfigurationError(FedbenchError):
    """A setting, name or file of the configuration is wrong."""


class SourceError(FedbenchError):
    """Raw data could not be had, or is not what the catalogue says."""


class DataError(FedbenchError):
    """A data set or partition breaks an invariant."""


class TrainingError(FedbenchError):
    """Training can't go on (a loss that is not finite, for example)."""


class RecordError(FedbenchError):
    """A run record is missing, invalid or stale."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name closest to ``name``, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""
