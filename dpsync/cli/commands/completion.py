"""Define `dpsync completion`: print the completion script of a shell."""

from __future__ import annotations

import click

from dpsync.cli.help_pages import HelpCommand


@click.command(
    "completion",
    cls=HelpCommand,
    examples="""
        eval "$(dpsync completion bash)"      # in ~/.bashrc
        eval "$(dpsync completion zsh)"       # in ~/.zshrc
        dpsync completion fish | source       # in ~/.config/fish/config.fish
    """,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes dpsync commands in your shell.

    The shell then completes commands and flags, addresses (after --select, --exclude and import),
    environments of the root file (after --env), and the words that dpsync explain knows.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from dpsync.cli.main import root

    completion_class = get_completion_class(shell)
    assert completion_class is not None
    # Not `source` of the class itself: that of bash starts bash, only to ask how old it is.
    click.echo(ShellComplete.source(completion_class(root, {}, "dpsync", "_DPSYNC_COMPLETE")))
