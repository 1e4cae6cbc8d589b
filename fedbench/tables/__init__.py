"""Run records to tables with verdicts, as CSV, LaTeX and Markdown."""
