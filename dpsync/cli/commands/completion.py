"""`dpsync completion`: the script by which a shell completes commands, flags, addresses and environments."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script by which a shell completes dpsync.

    \b
      bash:  eval "$(dpsync completion bash)"            in ~/.bashrc
      zsh:   eval "$(dpsync completion zsh)"             in ~/.zshrc
      fish:  dpsync completion fish | source             in ~/.config/fish/config.fish

    A shell then completes commands and flags, addresses (--select, --exclude, import), the environments of
    the root file (--env), and what can be explained.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from dpsync.cli.main import root

    made = get_completion_class(shell)
    assert made is not None
    # Not `source` of the class itself: that of bash starts bash, only to ask how old it is.
    click.echo(ShellComplete.source(made(root, {}, "dpsync", "_DPSYNC_COMPLETE")))
