"""Define `dpsync init`: write the files of a new project, and import live objects if wanted.

It never overwrites a file, and lists the files that it keeps.
"""

from __future__ import annotations

import os
from pathlib import Path

import click
from msgspec import Struct

from dpsync import __commit__
from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.output import Output, interactive, make_output
from dpsync.cli.usage import WrongUsage
from dpsync.config.discovery import has_root
from dpsync.model.diagnostic import Exit
from dpsync.model.text import format_command as printed
from dpsync.render.visible import visible, visible_lines


class _InitOptions(Struct, frozen=True):
    """The answers of the user: the organization, whether to import it, and whether to write workflows."""

    organization: str
    live: bool
    workflows: bool


@click.command(
    "init",
    cls=HelpCommand,
    examples="""
        dpsync init
        dpsync init --organization ID --import
        dpsync init --organization ID --empty --no-input
    """,
    groups={
        "Content": ("--organization", "--import", "--empty"),
        "GitHub workflows": ("--workflows", "--repository", "--environment", "--action-ref"),
    },
)
@click.option(
    "-C", "--directory", type=click.Path(file_okay=False, path_type=Path), default=Path(),
    help="The directory of the project. dpsync creates a missing directory.",
)  # fmt: skip
@click.option("--organization", metavar="ID", help="The id of the organization, as in GitBook's URLs.")
@click.option(
    "--import",
    "importing",
    is_flag=True,
    help="Write all objects of the organization into the files. You need a token.",
)
@click.option("--empty", is_flag=True, help="Write a configuration without entries.")
@click.option(
    "--workflows", is_flag=True, default=None, help="Write GitHub workflows: plan, apply and drift."
)
@click.option(
    "--repository", metavar="OWNER/NAME",
    help="With --workflows: the jobs run only in this repository, not in forks.",
)  # fmt: skip
@click.option(
    "--environment", "github_environment", metavar="NAME", default="production", show_default=True,
    help="With --workflows: the GitHub environment with the token for apply.",
)  # fmt: skip
@click.option(
    "--action-ref", metavar="COMMIT",
    help="With --workflows: the commit of dpsync that the jobs use.",
    show_default="the commit of this release",
)  # fmt: skip
@click.option("--no-input", is_flag=True, help="Never ask questions. A missing flag is an error.")
def command(
    directory: Path, organization: str | None, importing: bool, empty: bool, workflows: bool | None,
    repository: str | None, github_environment: str, action_ref: str | None, no_input: bool,
) -> int:  # fmt: skip
    """Write the files of a new project.

    dpsync writes dpsync.yaml, a JSON Schema, editor settings and .gitignore. --import also writes all
    objects of the organization into the files. --workflows also writes GitHub workflows, with each action
    pinned to a commit. dpsync keeps existing files, and prints the text that dpsync would have written.

    In a terminal, dpsync asks for each flag that you do not pass. Without a terminal, pass --organization and
    either --import or --empty. If this dpsync is not a release, --workflows needs --action-ref. A missing
    flag ends with exit code 64.
    """
    from dpsync import disk
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.importing.layout import WorkflowSettings

    if importing and empty:
        raise click.UsageError("--import and --empty cannot be combined")
    live = importing if importing or empty else None
    out = make_output("text", "never")
    with exit_on_errors(out):
        asking = interactive(no_input)
        options = _ask_options(organization, live, workflows, asking, has_root(directory))
        project = directory.resolve()
        path_in_checkout = project.relative_to(disk.find_checkout(project)).as_posix()
        action = action_ref or (_action_commit(asking) if options.workflows else "")
        settings = WorkflowSettings(path_in_checkout, github_environment, repository, action)
        if problem := settings.problem() if options.workflows else None:
            raise click.UsageError(visible(problem))
        code = _import_live(out, directory, options.organization) if options.live else int(Exit.DONE)
        if code not in (Exit.DONE, Exit.PARTIAL):
            return code
        existed_before = has_root(directory)
        _write_missing_files(out, directory, options, settings)
        _print_next_steps(out, options, existed_before, github_environment)
        return code
    raise AssertionError


def _ask_options(
    organization: str | None, live: bool | None, workflows: bool | None, asking: bool, exists: bool
) -> _InitOptions:
    """Return the options from the flags, and from questions about missing flags.

    Raises WrongUsage if a flag is missing and nobody can be asked, or if --import is not possible.

    Args:
        asking: Whether a person can be asked.
        exists: Whether the directory has a configuration already.
    """
    from dpsync.model.ids import is_id

    if exists:
        if live:
            raise WrongUsage(
                "A configuration exists already, so --import is not possible.",
                f"To write live values into the existing files: {printed('import')}",
            )
        live, organization = False, organization or "there"
    if not asking and (organization is None or live is None):
        raise WrongUsage(
            "Without a terminal, pass --organization ID, and either --import or --empty.",
            "--import writes all objects of the organization into the files. --empty writes no entries.",
        )
    if organization is None:
        organization = click.prompt("The id of your organization in GitBook", err=True, type=str).strip()
    if not is_id(organization):
        raise click.UsageError(
            "--organization: an id has at most 500 printable characters, and no spaces, backslashes or braces"
        )
    if live is None:
        live = click.confirm("Write all objects of the organization into the files?", default=True, err=True)
    if workflows is None and asking:
        workflows = click.confirm("Write GitHub workflows?", default=False, err=True)
    return _InitOptions(organization, live, bool(workflows))


def _action_commit(asking: bool) -> str:
    """Return the commit of dpsync that CI workflows run: the one of this release, or else ask the user.

    Raises WrongUsage if this dpsync is not a release and `asking` is false.
    """
    if __commit__:
        return __commit__
    if asking:
        question = "The dpsync commit that the CI jobs run (40 digits)"
        return str(click.prompt(question, err=True, type=str)).strip()
    raise WrongUsage(
        "--workflows needs --action-ref COMMIT, because this dpsync is not a release and does not know its "
        "own commit.",
        "Pass the 40 digits of a dpsync commit that you have reviewed. A tag is not safe: somebody who moves "
        "the tag changes the code of your jobs.",
    )


def _import_live(out: Output, directory: Path, organization: str) -> int:
    """Import the live objects of an organization as `dpsync import` does, and return the exit code."""
    from dpsync.cli.configuration import ids_file, open_ids_file
    from dpsync.cli.connection import find_connection
    from dpsync.cli.exit_codes import exit_on_errors
    from dpsync.cli.importing import import_live
    from dpsync.config.discovery import ROOT_NAMES

    connection = find_connection(out)
    with exit_on_errors(out, connection):
        ids = open_ids_file(ids_file(out, directory / ROOT_NAMES[0], connection, None), directory)
        return import_live(out, connection, None, (organization,), directory, False, False, 4, 30.0, ids)
    raise AssertionError


def _write_missing_files(out: Output, directory: Path, options: _InitOptions, settings: object) -> None:
    """Write the files of the project that are missing, and print which files are written or kept.

    `settings` are the settings of GitHub workflows, which are written if the options ask for them.
    """
    from dpsync import disk
    from dpsync.config.discovery import ROOT_NAMES
    from dpsync.importing import layout
    from dpsync.importing.files import write_files
    from dpsync.importing.layout import ROOT_FILE, SCHEMA_FILE
    from dpsync.kinds.registry import build_registry

    assert isinstance(settings, layout.WorkflowSettings)
    files = {
        layout.EDITOR_SETTINGS_FILE: layout.editor_settings(),
        layout.GITIGNORE_FILE: layout.gitignore_file(),
    }
    if not has_root(directory):
        files |= {
            ROOT_FILE: layout.root_file(options.organization),
            SCHEMA_FILE: layout.schema_file(build_registry()),
        }
    elif not options.live:
        out.print_result(
            f"kept     {' and '.join(name for name in ROOT_NAMES if (directory / name).exists())}"
        )
    top = disk.find_checkout(directory.resolve())
    for folder, contents in (
        (directory, files),
        (top, layout.workflow_files(settings) if options.workflows else {}),
    ):
        kept_files = {name: content for name, content in contents.items() if os.path.lexists(folder / name)}
        for written_file in write_files(
            folder, {name: text for name, text in contents.items() if name not in kept_files}
        ):
            out.print_result(f"written  {visible(written_file.path)}")
        for name, content in sorted(kept_files.items()):
            _print_kept(out, folder / name, name, content)


def _print_kept(out: Output, path: Path, name: str, content: bytes) -> None:
    """Print that an existing file is kept.

    Unless the file already has all lines of `content`, print the content, too, so that the user can add it.
    """
    from dpsync import disk

    try:
        present_text = disk.read(path, 1 << 20).decode("utf-8", "replace")
    except OSError:
        present_text = ""
    text = content.decode()
    if {line.strip() for line in text.splitlines()} <= {line.strip() for line in present_text.splitlines()}:
        out.print_result(f"kept     {visible(name)}")
        return
    out.print_result(f"kept     {visible(name)}, because the file exists already. dpsync would have written:")
    out.print_result(visible_lines("\n".join(f"    {line}" for line in text.splitlines())))


def _print_next_steps(
    out: Output, options: _InitOptions, existed_before: bool, github_environment: str
) -> None:
    """Print the commands that the user can run next. They only read from GitBook.

    `existed_before`: whether the directory had a configuration before this run.
    """
    from dpsync.cli.connection import shell_address
    from dpsync.kinds.profiles import profile_of_url
    from dpsync.model.urls import DOCS_URL, GITBOOK_API_URL, hide_credentials, is_loopback

    has_token = os.environ.get("DPSYNC_TOKEN") or os.environ.get("DPSYNC_TOKEN_FILE")
    if profile_of_url(shell_address()) is None:
        out.print_result("" if has_token else "\nNext, set DPSYNC_TOKEN.")
        steps = [("To see the plan", printed("plan")), ("To check for problems", printed("doctor"))]
    else:
        instruction = "set DPSYNC_TOKEN to an access token from your user settings in GitBook. Then:"
        out.print_result("\nNext, for GitBook:" if has_token else f"\nNext, {instruction}")
        steps = [("To see the plan", printed("plan"))]
        if not options.live:
            flags = () if existed_before else ("--organization", options.organization, "--force")
            steps.insert(0, ("To write your organization into files", printed("import", *flags)))
        steps.append(("To check that dpsync works with GitBook's API", printed("doctor", "--contact")))
    for purpose, command_line in steps:
        out.print_result(out.invocation.add_flags_to_commands(f"{purpose}: {command_line}"))
    if options.workflows:
        url = GITBOOK_API_URL if is_loopback(shell_address()) else hide_credentials(shell_address())
        out.print_result(
            f"In the repository's settings on GitHub, set the variable DPSYNC_URL to {visible(url)}. Create "
            f"the GitHub environments plan, drift and {visible(github_environment)}, each with the secret "
            "DPSYNC_TOKEN."
        )
        out.print_result(f"More: {DOCS_URL}/github-action.md")
