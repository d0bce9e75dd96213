"""What a version number makes a promise about, one fact to a line: commands, flags, exit codes, inputs.

    python -m tools.surface        writes schemas/surface.txt anew

A change of that file is a change that users notice: docs/versions.md says which number it moves. The shapes
of JSON and of the configuration are snapshots of their own: the other files of schemas/.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import yaml

import dpsync.api
from dpsync.cli.main import COMMANDS, root
from dpsync.model.diagnostic import Exit

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "schemas" / "surface.txt"


def surface() -> str:
    """Every fact, sorted within its section."""
    sections = (_commands(), _exit_codes(), _action(), _hooks(), _extras(), _python())
    return "".join("".join(f"{line}\n" for line in sorted(section)) for section in sections)


def _commands() -> Iterator[str]:
    yield from _parameters("", root)
    for name in COMMANDS:
        command = root.get_command(click.Context(root), name)
        assert command is not None
        yield f"command {name}"
        yield from _parameters(f"{name} ", command)


def _parameters(prefix: str, command: click.Command) -> Iterator[str]:
    for one in command.params:
        if isinstance(one, click.Option) and not one.hidden:
            takes = "" if one.is_flag else f" {_takes(one)}"
            yield f"flag {prefix}{', '.join([*one.opts, *one.secondary_opts])}{takes}"
        elif isinstance(one, click.Argument):
            yield f"argument {prefix}{(one.name or '').upper()}{'' if one.required else ' (optional)'}"


def _takes(option: click.Option) -> str:
    """Return what a flag takes: its choices, or the type of its value."""
    kind = option.type
    many = " (repeated)" if option.multiple else ""
    return ("|".join(map(str, kind.choices)) if isinstance(kind, click.Choice) else kind.name) + many


def _exit_codes() -> Iterator[str]:
    return (f"exit code {int(code)} {code.name.lower()}" for code in Exit)


def _action() -> Iterator[str]:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    yield from (f"input {name} = {one['default']!r}" for name, one in action["inputs"].items())
    yield from (f"output {name}" for name in action["outputs"])


def _hooks() -> Iterator[str]:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return (f"hook {hook['id']}" for hook in hooks)


def _extras() -> Iterator[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    yield f"python {project['requires-python']}"
    yield from (f"extra {name}" for name in project["optional-dependencies"])


def _python() -> Iterator[str]:
    return (f"dpsync.api.{name}" for name in dpsync.api.__all__)


if __name__ == "__main__":
    FILE.write_text(surface(), encoding="utf-8")
