"""Entry point: ``fedbench <command> ...``; only the module of the named command is imported."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from types import ModuleType

import fedbench.cli
from fedbench.errors import FedbenchError

INTERRUPTED = 130
"""Exit status of a program that Ctrl-C ended, by a shell's convention."""


def command_names() -> list[str]:
    """Return the sub-commands: the public modules of this package."""
    names = (module.name for module in pkgutil.iter_modules(fedbench.cli.__path__))
    return sorted(name for name in names if not name.startswith("_"))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"fedbench.cli.{name}")


def build_parser(only: str | None) -> argparse.ArgumentParser:
    """Return the parser with the sub-command ``only``, or with all of them (for ``--help``)."""
    parser = argparse.ArgumentParser(prog="fedbench", description=fedbench.__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name in [only] if only else command_names():
        module = _module(name)
        child = commands.add_parser(name.replace("_", "-"), help=module.HELP, description=module.__doc__)
        module.configure(child)
        child.set_defaults(run=module.run)
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one sub-command; a `FedbenchError`, a full disk or Ctrl-C becomes a message on stderr and an exit status."""
    argv = sys.argv[1:] if argv is None else argv
    asked = argv[0].replace("-", "_") if argv else ""
    args = build_parser(asked if asked in command_names() else None).parse_args(argv)
    try:
        return int(args.run(args) or 0)
    except (FedbenchError, OSError) as error:
        print(f"fedbench {args.command}: {type(error).__name__}\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        kept = f" from what {args.state} keeps" if getattr(args, "state", None) else ""
        print(f"fedbench {args.command}: interrupted; the same command goes on{kept}", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
