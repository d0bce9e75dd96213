"""Define `dpsync world`: save live objects as a world, which is a file that the local server can serve.

The client of this command cannot write to GitBook.
"""

from __future__ import annotations

from pathlib import Path

import click

from dpsync.cli.help_pages import HelpCommand
from dpsync.cli.options import color_option, configuration_options, profile_option, reading_options
from dpsync.cli.output import make_output
from dpsync.model.diagnostic import Exit


@click.command(
    "world",
    cls=HelpCommand,
    examples="""
        dpsync world acme.json
        dpsync world acme.json --anonymous
        dpsync serve --world acme.json
    """,
    groups={
        "Content": ("--anonymous",),
    },
)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@configuration_options
@profile_option
@click.option(
    "--anonymous", is_flag=True,
    help="Replace domains, URLs, and the names, e-mail addresses, pictures and roles of people. Other texts "
    "that contain these values also change.",
)  # fmt: skip
@reading_options
@click.option("-v", "--verbose", count=True, help="Print more details. -vv also prints every request.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
@color_option
def command(
    file: Path, files: tuple[str, ...], directory: Path, environment: str | None, profile: str | None,
    anonymous: bool, ids_in: Path | None, parallelism: int, timeout: float, verbose: int,
    quiet: bool, color: str,
) -> int:  # fmt: skip
    """Save a copy of your organization for dpsync serve.

    dpsync reads the live objects that your files declare, and writes them to FILE with their ids. FILE
    contains no secrets, no tokens and no content of spaces. FILE contains names of people, so only its
    owner can read it.

    For a bug report or a test, --anonymous replaces people, domains and URLs consistently. Titles and
    paths stay unchanged. Check titles and paths for names before you share the file.
    """
    from dpsync import disk
    from dpsync.cli.worlds import read_world
    from dpsync.model.text import format_count, json_text
    from dpsync.render.visible import visible

    out = make_output("text", color, verbose, quiet)
    world = read_world(
        out, files, directory, environment, ids_in=ids_in, profile=profile, parallelism=parallelism,
        timeout=timeout, anonymous=anonymous,
    )  # fmt: skip
    target = directory / file
    try:
        disk.replace_file(target, (json_text(world, indent=1) + "\n").encode(), private=not anonymous)
    except OSError as error:
        raise click.ClickException(f"dpsync cannot write {target}: {disk.error_reason(error)}") from None
    organizations = world["organizations"]
    counts = []
    for name in ("members", "teams", "spaces", "sites"):
        number = sum(len(organization.get(name, ())) for organization in organizations)
        counts.append(format_count(number, name.removesuffix("s")))
    out.print_message(visible(f"Saved {target}: {', '.join(counts)}. The file contains no secrets."))
    if anonymous:
        out.print_message(
            "People, domains and URLs are replaced. Titles and paths stay unchanged. Before you share the "
            "file, check titles and paths for names."
        )
    return Exit.DONE
