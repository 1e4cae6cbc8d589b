"""A plan as text for a terminal."""

from __future__ import annotations

from datetime import timedelta

from fedbench.planning.plan import Plan, Share

HEADINGS = ("table", "jobs", "done", "to run", "CPU time")


def plan_text(plan: Plan, cores: int) -> str:
    """Return the plan as aligned lines, the total's wall time at ``cores``, and what the estimate rests on."""
    rows = [HEADINGS, *(_row(share) for share in (*plan.tables, plan.total))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = [_line(row, widths) for row in rows]
    return "\n".join([*lines, "", *_closing(plan.total, cores)])


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
    return "  ".join(cells).rstrip()


def _row(share: Share) -> tuple[str, ...]:
    to_run = len(share.estimates)
    return share.name, str(len(share.jobs)), str(share.done), str(to_run), _time(share)


def _time(share: Share) -> str:
    if share.estimates and share.unknown == len(share.estimates):
        return "no past record"
    return ("at least " if share.unknown else "") + _clock(share.seconds)


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _closing(total: Share, cores: int) -> list[str]:
    lines = [f"wall time on {cores} core(s): about {_clock(total.wall_seconds(cores))}"] if total.seconds else []
    lines += [f"{count} job(s) judged by past runs of the {basis}" for basis, count in total.bases.most_common()]
    if total.unknown:
        lines.append(f"{total.unknown} job(s) with no past record: not in the times above")
    return lines or ["nothing to train"]
