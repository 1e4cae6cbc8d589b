"""Turn a Markdown table into an HTML page that the report shows in place."""

from pathlib import Path

from markdown_it import MarkdownIt

STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5em; color: #111; background: #fff; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: .3em .8em; border-bottom: 1px solid #ccc; text-align: left; font-variant-numeric: tabular-nums; }
thead th { border-top: 2px solid #111; border-bottom: 1px solid #111; vertical-align: bottom; }
"""


def page(markdown: str) -> str:
    """Return a whole HTML page; the text may hold HTML tags, which pass through."""
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    head = f'<meta charset="utf-8"><style>{STYLE}</style>'
    return f"<!doctype html>\n<html><head>{head}</head>\n<body>\n{body}</body></html>\n"


def main(source: str, target: str) -> None:
    """Write the page of one file."""
    Path(target).write_text(page(Path(source).read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(snakemake.input.md, snakemake.output.html)  # noqa: F821
