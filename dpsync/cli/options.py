"""Define the flags and environment variables that commands share. Each flag has one meaning everywhere.

Each function ending in `_options` or `_option` is a decorator of click commands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, TypeVar

import click

from dpsync.cli.completion_values import addresses, environments
from dpsync.cli.output import TRUST_FLAG, store_trust_flag
from dpsync.render.formats import FORMATS

F = TypeVar("F", bound=Callable[..., Any])


def configuration_options(command: F) -> F:
    """Add -f, -C and --env, which choose the configuration."""
    return _configuration_options(command, exists=True)


def new_configuration_options(command: F) -> F:
    """Add -f, -C and --env; the directory of -C need not exist."""
    return _configuration_options(command, exists=False)


def _configuration_options(command: F, exists: bool) -> F:
    """Add -f, -C and --env. `exists`: whether the directory of -C must exist."""
    command = click.option(
        "--env", "environment", metavar="NAME", envvar="DPSYNC_ENV", shell_complete=environments,
        help="The environment in the root file, such as production. [default: the values outside of "
        "environments; env: DPSYNC_ENV]",
    )(command)  # fmt: skip
    command = click.option(
        "-C", "--directory", type=click.Path(exists=exists, file_okay=False, path_type=Path), default=Path(),
        help="Run as if you started dpsync in this directory."
        + ("" if exists else " dpsync creates a missing directory."),
    )(command)  # fmt: skip
    return click.option(
        "-f", "--file", "files", multiple=True, metavar="FILE",
        help="The root file. Repeat this flag to add overlays: the values of a later file replace "
        "values of an earlier file. "
        "[default: dpsync.yaml here or in a directory above, up to the git root; env: DPSYNC_FILE]",
    )(command)  # fmt: skip


def profile_option(command: F) -> F:
    """Add --profile, the API version."""
    return click.option(
        "--profile", metavar="NAME", envvar="DPSYNC_PROFILE", callback=_check_profile,
        help="The version of GitBook's API: published, full or reference. [default: published for "
        "api.gitbook.com, else the version that the server names, else full; env: DPSYNC_PROFILE]",
    )(command)  # fmt: skip


def _check_profile(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Return the value of --profile. Raises BadParameter, with a suggestion, for an unknown API version."""
    del context, parameter
    from dpsync.kinds.profiles import PROFILES

    if value is not None and value not in PROFILES:
        from dpsync.model.text import did_you_mean

        nearest = did_you_mean(value, PROFILES)
        suggestion = f'Did you mean "{nearest}"?' if nearest else f"Use one of {', '.join(PROFILES)}"
        raise click.BadParameter(f"the API version {value!r} does not exist. {suggestion}")
    return value


def selection_options(command: F) -> F:
    """Add --select and --exclude."""
    command = click.option(
        "--exclude", multiple=True, metavar="PATTERN", shell_complete=addresses,
        help="Skip the objects at these addresses, and all objects inside them. May be repeated.",
    )(command)  # fmt: skip
    return click.option(
        "--select", multiple=True, metavar="PATTERN", shell_complete=addresses,
        help="Use only the objects at these addresses, all objects inside them, and the objects that the "
        "chosen objects need. May be repeated.",
    )(command)  # fmt: skip


def color_option(command: F) -> F:
    """Add --color."""
    return click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True,
        help="When to color the output.",
    )(command)  # fmt: skip


def journal_option(command: F) -> F:
    """Add --journal."""
    return click.option(
        "--journal", "journal_in", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
        help="The directory for journals of applies. [default: .dpsync/journal next to the root file]",
    )(command)  # fmt: skip


def output_options(command: F) -> F:
    """Add --format (text and JSON), --color, -q and -v."""
    return _output_options(command, ("text", "json"))


def all_format_output_options(command: F) -> F:
    """Add --format (all formats), --color, -q and -v."""
    format_help = " ".join(
        f"{format_.help[0].upper()}{format_.help[1:]}: {name}." for name, format_ in FORMATS.items()
    )
    return _output_options(command, tuple(FORMATS), f" {format_help}")


def _output_options(command: F, formats: Collection[str], format_help: str = "") -> F:
    """Add --format, --color, -q and -v. `format_help` is added to the help text of --format."""
    command = click.option(
        "-v", "--verbose", count=True, help="Print more details. -vv also prints every request."
    )(command)
    command = click.option(
        "-q", "--quiet", is_flag=True,
        help="Print only the result and errors. In a plan, print only the changes that need attention.",
    )(command)  # fmt: skip
    command = color_option(command)
    return click.option(
        "--format", "format_", type=click.Choice(list(formats)), default="text", show_default=True,
        help=f"The format of the result.{format_help}",
    )(command)  # fmt: skip


def summary_option(command: F) -> F:
    """Add --summary."""
    return click.option(
        "--summary",
        is_flag=True,
        help="Print one line for each object. If a plan has many objects of one type, print one line for all "
        "objects of the type.",
    )(command)


def confirmation_options(command: F) -> F:
    """Add --yes and --approved: ways to confirm a plan without a prompt."""
    command = click.option(
        "--approved", metavar="DIGEST",
        help="Apply the plan only if its fingerprint (digest) is DIGEST. dpsync then asks for no "
        "confirmation.",
    )(command)  # fmt: skip
    return click.option(
        "--yes", is_flag=True,
        help="Apply the plan without asking y or n. If the plan asks for more, also pass --confirm.",
    )(command)  # fmt: skip


def no_input_option(command: F) -> F:
    """Add --no-input, for commands that write to the platform."""
    return click.option(
        "--no-input", is_flag=True,
        help="Never ask a question in the terminal. Without --yes, dpsync then applies nothing.",
    )(command)  # fmt: skip


def rehearse_option(command: F) -> F:
    """Add --rehearse."""
    return click.option(
        "--rehearse", is_flag=True,
        help="First apply the plan to a local copy of the live organization. If this rehearsal fails, "
        "dpsync refuses the plan.",
    )(command)  # fmt: skip


def ids_option(command: F) -> F:
    """Add --ids."""
    return click.option(
        "--ids", "ids_in", metavar="FILE", type=click.Path(path_type=Path),
        help="The ids file, which records the GitBook object of each entry. [default: dpsync.ids.yaml next "
        "to the root file; .dpsync/ids.yaml for a server on this machine]",
    )(command)  # fmt: skip


def trust_option(command: F) -> F:
    """Add --trust-environment, which allows sending the token to a URL that is not committed to git."""
    return click.option(
        TRUST_FLAG, metavar="NAME", expose_value=False, callback=store_trust_flag,
        shell_complete=environments,
        help="Send the token of this environment to its URL, even if the URL is not committed to git. "
        "Without this flag, dpsync asks once in a terminal. This flag has no effect in a pull request.",
    )(command)  # fmt: skip


def timeout_option(command: F) -> F:
    """Add --timeout."""
    return click.option(
        "--timeout", type=click.FloatRange(min=0.1), default=30.0, show_default=True, metavar="SECONDS",
        help="The maximum time for one request, including its response.",
    )(command)  # fmt: skip


def reading_options(command: F) -> F:
    """Add the options of all commands that read the platform."""
    command = trust_option(timeout_option(command))
    command = click.option(
        "--parallelism", type=click.IntRange(1, 64), default=4, show_default=True, metavar="N",
        help="The maximum number of simultaneous requests.",
    )(command)  # fmt: skip
    return ids_option(command)


def base_option(command: F) -> F:
    """Add --base: the commit with which a plan compares the files to say why a value differs."""
    return click.option(
        "--base", metavar="REF",
        help="The commit with which dpsync compares your files to label changes (edited here, changed "
        "outside). This flag changes only the labels.",
    )(command)  # fmt: skip


def _check_answers(
    context: click.Context, parameter: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the values of --confirm. Raises BadParameter for a text that has no form of a confirmation."""
    del context, parameter
    if texts:
        from dpsync.kinds.registry import build_registry
        from dpsync.planner.answers import parse_answer

        registry = build_registry().with_all_kinds
        for text in texts:
            try:
                parse_answer(text, registry)
            except ValueError as error:
                raise click.BadParameter(str(error)) from None
    return texts


def planning_options(command: F) -> F:
    """Add the options that plan and apply share."""
    command = base_option(reading_options(command))
    command = click.option(
        "--no-delete", is_flag=True, help="Delete nothing, even if policy: prune covers an object."
    )(command)
    return click.option(
        "--confirm", multiple=True, metavar="TEXT", callback=_check_answers,
        help='Confirm what the plan asks about. Copy the flag from the plan, for example --confirm "delete '
        '12". May be repeated. Valid texts: delete N, delete ADDRESS, new ADDRESS, new N PATTERN, expose N, '
        "expose for a moment N, restructure ADDRESS, send ADDRESS#FIELD and others.",
    )(command)  # fmt: skip
