"""How a cell stands to the published one."""

from __future__ import annotations

import math

from fedbench.stats.summary import Summary

NOT_PUBLISHED = "not published"
NOT_RUN = "not run"
REPRODUCED = "reproduced"
WITHIN_SPREAD = "within spread"
OFF = "off by"
WITHIN_PARTITIONS = "within partition spread"
FEWEST = 2


def verdict(difference: float | None, std: float, published_std: float | None, within: float, decimals: int = 2) -> str:
    """Return the verdict on a cell that has been run.

    ``reproduced``: the means differ by at most ``within``. ``within spread``: by at most twice the root of the summed
    variances. ``off by +x.xx``: by more; the sign is ours minus published. ``not published``: nothing to compare with.
    An unknown standard deviation (None or NaN) counts as 0.

    Args:
        difference: our mean minus the published mean; None if nothing was published.
        std: our standard deviation over seeds.
        published_std: the published one.
        within: the tolerance, in the unit of the means.
        decimals: of the figure printed.
    """
    if difference is None:
        return NOT_PUBLISHED
    if abs(difference) <= within:
        return REPRODUCED
    if abs(difference) <= 2 * math.hypot(_or_zero(std), _or_zero(published_std)):
        return WITHIN_SPREAD
    return f"{OFF} {difference:+.{decimals}f}"


def with_partitions(judged: str, published: float | None, partitions: Summary | None) -> str:
    """Add ``within partition spread`` to the verdict ``off by``, where the published mean deserves it.

    That is where it lies within two standard deviations over partitions of our mean over partitions, of which there
    must be two at least. The verdict on the one partition stays.
    """
    if not judged.startswith(OFF) or published is None or partitions is None or partitions.n < FEWEST:
        return judged
    inside = abs(partitions.mean - published) <= 2 * _or_zero(partitions.std)
    return f"{judged}, {WITHIN_PARTITIONS}" if inside else judged


def kind_of(text: str) -> str:
    """Return a verdict without its figure, for counting: ``off by -3.10`` becomes ``off by``."""
    _, comma, more = text.partition(", ")
    return f"{OFF}{comma}{more}" if text.startswith(OFF) else text


def partition_rule_in_words() -> str:
    """Return the rule of `with_partitions` as a sentence for captions."""
    return (
        f"{WITHIN_PARTITIONS.capitalize()}: though off by more, the published mean lies within two standard deviations "
        "over partitions of our mean over partitions."
    )


def rule_in_words(within: float, unit: str) -> str:
    """Return the rule of `verdict` as a sentence for captions."""
    return (
        f"Verdicts: {REPRODUCED}, our mean differs from the published one by at most {within:g} {unit}; "
        f"{WITHIN_SPREAD}, by at most twice the root of the two variances' sum; {OFF} +x.xx or -x.xx, by more "
        f"(ours minus published); {NOT_PUBLISHED}, the paper has no such figure; {NOT_RUN}, no record here."
    )


def _or_zero(std: float | None) -> float:
    return 0.0 if std is None or math.isnan(std) else std
