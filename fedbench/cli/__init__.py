"""The command line: one module a sub-command, each with ``HELP``, ``configure`` and ``run``."""
