"""LaTeX and Markdown from templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jinja2

from fedbench.tables.escape import latex, markdown
from fedbench.tables.view import Block


@dataclass(frozen=True)
class Page:
    """Everything a template prints, in plain text; templates escape."""

    name: str
    title: str
    caption: str
    blocks: Sequence[Block]
    notes: Sequence[str]
    rows_are: str = "Method"


def render(page: Page, form: str) -> str:
    """Return the page in a form: ``tex`` (a float a panel; needs booktabs) or ``md``."""
    return _ENVIRONMENT.get_template(f"table.{form}.j2").render(page=page)


def _environment() -> jinja2.Environment:
    # Delimiters without braces: LaTeX is full of them.
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fedbench.tables"),
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(tex=latex, md=markdown)
    return environment


_ENVIRONMENT = _environment()
