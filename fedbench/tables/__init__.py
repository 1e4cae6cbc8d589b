"""Tables: tidy CSV, and LaTeX and Markdown laid out like the paper, each cell beside the published one."""
