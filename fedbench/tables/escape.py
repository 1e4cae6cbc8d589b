"""Plain text as LaTeX and as Markdown."""

from __future__ import annotations

import re

LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"\ensuremath{\pm}",
    "†": r"\ensuremath{\dagger}",
    "`": r"\textasciigrave{}",
}
MARKDOWN = re.compile(r"([\\|*_<>\[\]])")


def latex(text: str) -> str:
    """Return ``text`` with every character that LaTeX would act on written out."""
    return "".join(LATEX.get(character, character) for character in text)


def markdown(text: str) -> str:
    """Return ``text`` with every character that Markdown would act on escaped; code spans stay."""
    return "`".join(part if place % 2 else MARKDOWN.sub(r"\\\1", part) for place, part in enumerate(text.split("`")))
