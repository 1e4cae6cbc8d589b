"""Every option of the command line says what it is."""

from fedbench.cli.__main__ import build_parser, command_names
from fedbench.cli._options import names


def test_every_option_has_a_help():
    for command in command_names():
        parser = build_parser(command)._subparsers._group_actions[0].choices[command.replace("_", "-")]
        assert [action.dest for action in parser._actions if not action.help] == []


def test_names_are_separated_by_commas():
    assert names("a,b/c,") == ("a", "b/c")
    assert names("") == ()
