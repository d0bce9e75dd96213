"""Format help pages: summary, examples, details, and flags in named groups.

This module imports only click, because completion and `--help` must start fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import cleandoc
from typing import Any, Final

import click

OTHER_FLAGS_TITLE: Final = "Other"
"""The last group: --help, and flags without a named group."""

_SHARED_GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "Selection": ("--select", "--exclude"),
    "Answers": ("--confirm", "--no-delete", "--yes", "--approved", "--no-input"),
    "Files": ("--file", "--directory", "--env", "--base", "--ids", "--journal"),
    "Connection": ("--profile", "--parallelism", "--timeout", "--trust-environment"),
    "Output": ("--format", "--color", "--summary", "--quiet", "--verbose"),
}


class HelpCommand(click.Command):
    """A command whose help page starts with examples and groups its flags.

    `groups` maps the title of a group to its long flags. These groups come before those that commands share,
    and can have flags of a shared group.
    """

    def __init__(
        self, *args: Any, examples: str, groups: Mapping[str, Sequence[str]] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = cleandoc(examples).splitlines()
        self.groups = groups or {}

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the summary, the examples and the details of the help text, in this order."""
        del ctx
        summary, _, details = cleandoc(self.help or "").partition("\n\n")
        with formatter.indentation():
            for text in ("", summary):
                formatter.write_text(text)
        with formatter.section("Example" if len(self.examples) == 1 else "Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}".rstrip() + "\n")
        if details:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(details)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section of the help text for each group of flags."""
        for title, options in self.grouped_options(ctx).items():
            with formatter.section(title):
                formatter.write_dl([record for option in options if (record := option.get_help_record(ctx))])

    def grouped_options(self, ctx: click.Context) -> dict[str, list[click.Parameter]]:
        """Return the visible options of the command by the title of their group."""
        titles = {flag: title for title, flags in _SHARED_GROUPS.items() for flag in flags}
        titles |= {flag: title for title, flags in self.groups.items() for flag in flags}
        options_by_title: dict[str, list[click.Parameter]]
        options_by_title = {title: [] for title in (*self.groups, *_SHARED_GROUPS, OTHER_FLAGS_TITLE)}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option) and not parameter.hidden:
                options_by_title[titles.get(max(parameter.opts, key=len), OTHER_FLAGS_TITLE)].append(
                    parameter
                )
        return {title: options for title, options in options_by_title.items() if options}
