"""Define `dpsync fmt`: format the white space in the files, and nothing else, without requests."""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.output import make_output
from dpsync.model.diagnostic import Diagnostic, DiagnosticError, Exit
from dpsync.render.visible import visible

_MAX_FILE_BYTES = 10_000_000
"""Bytes of a file, as when it is read."""


@click.command(
    "fmt",
    cls=HelpCommand,
    examples="""
        dpsync fmt
        dpsync fmt --check
        dpsync fmt --diff acme/teams.yaml
    """,
    groups={
        "Without writing": ("--check", "--diff"),
    },
)
@click.argument("paths", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option(
    "-C", "--directory", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path(),
    help="Run as if you started dpsync in this directory.",
)  # fmt: skip
@click.option(
    "--check", "checking", is_flag=True, help="Write nothing. The exit code is 2 if a file needs formatting."
)
@click.option("--diff", "showing", is_flag=True, help="Write nothing. Show the changes that fmt would make.")
def command(paths: tuple[Path, ...], directory: Path, checking: bool, showing: bool) -> int:
    """Format the white space in the files.

    dpsync indents each level by two spaces, and removes spaces at the ends of lines and repeated empty
    lines. Comments, quotes, the order of keys and all values stay unchanged. Without FILE, dpsync formats
    every file of the configuration: the root file, included files, and the overlays of environments.
    dpsync prints the names of the changed files. Exit code 5 means that a file is not valid YAML.
    """
    from dpsync.cli.exit_codes import exit_on_errors

    out = make_output("text", "never")
    with exit_on_errors(out):
        project, names = _named_files(directory, paths) if paths else _configuration_files(directory)
        changed, findings = _format_files(project, names)
        for name, (before, after) in changed.items():
            out.print_result(visible(name))
            if showing:
                from difflib import unified_diff

                labels = f"{visible(name)} (now)", f"{visible(name)} (formatted)"
                lines = unified_diff(before.splitlines(), after.splitlines(), *labels, lineterm="")
                out.print_result("\n".join(visible(line) for line in lines))
        if not checking and not showing:
            from dpsync.importing.files import write_files

            contents = {name: after.encode() for name, (_, after) in changed.items()}
            write_files(project, contents, force=True)  # all files or none, and through no link
        if findings:
            raise DiagnosticError(findings, Exit.INVALID)
        return Exit.CHANGES if checking and changed else Exit.DONE
    raise AssertionError


def _named_files(directory: Path, paths: tuple[Path, ...]) -> tuple[Path, list[str]]:
    """Return the directory, and the files that the user named, with all YAML files in named directories."""
    from dpsync import disk

    names: list[str] = []
    for path in paths:
        full_path = directory / path
        if not full_path.is_dir():
            names.append(str(path))
            continue
        for file in sorted([*full_path.rglob("*.yaml"), *full_path.rglob("*.yml")]):
            name = file.relative_to(directory)
            if not disk.contains_git_name(name.parts):
                names.append(name.as_posix())
    return directory, names


def _configuration_files(directory: Path) -> tuple[Path, list[str]]:
    """Return the directory of the configuration and the names of all its files, of every environment.

    Files with errors are included, because the command can format them.
    """
    import os

    from dpsync.config.compose import load_sources
    from dpsync.config.discovery import DiskFiles, find_root
    from dpsync.config.layers import Layers

    root = find_root(directory)
    sources = load_sources(DiskFiles(root), os.environ)
    names = set(sources.texts)
    for name in sources.environments:
        names |= set(load_sources(DiskFiles(root), os.environ, Layers((), name)).texts)
    return root.parent, sorted(names)


def _format_files(project: Path, names: list[str]) -> tuple[dict[str, tuple[str, str]], list[Diagnostic]]:
    """Return the files with wrong format (name: text before and after), and findings about other problems."""
    from dpsync import disk
    from dpsync.importing.format_yaml import NotFormattableError, format_yaml

    changed: dict[str, tuple[str, str]] = {}
    findings: list[Diagnostic] = []
    for name in names:
        try:
            disk.resolve_inside(project / name, project)
            content = disk.read(project / name, _MAX_FILE_BYTES, follow=False)
            before = content.decode()
            after = format_yaml(before, name)
        except UnicodeDecodeError:
            findings.append(Diagnostic("DP102", f"{name} is not UTF-8 text"))
        except OSError as error:
            findings.append(Diagnostic("DP122", f"cannot read {name}: {disk.error_reason(error)}"))
        except NotFormattableError as error:
            findings.append(
                Diagnostic(
                    error.code,
                    f"dpsync did not change {name}: {error}",
                    hint="run the command validate to see all mistakes",
                )
            )
        else:
            if before != after:
                changed[name] = before, after
    return changed, findings
