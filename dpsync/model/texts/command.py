"""Commands of dpsync in texts: how one is written into a sentence, and completed when it is printed.

A sentence holds a command in backticks, as `command` writes it: without the flags of the run that prints it,
so that a plan has the same bytes wherever it is made. Whatever prints the sentence puts those flags in
(`Invocation.complete`). Then the command, copied, works on the files, the environment and the platform that
the sentence is about. A command is the end of its sentence, so that a whole line can be copied.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from msgspec import Struct

from dpsync.model.texts.characters import UNSEEN

_WORD: Final = r"""(?:[^\s`'"]|'[^']*'|"[^"]*")+"""
_UNSEEN: Final = re.compile(f"[{UNSEEN}]")
_COMMAND: Final = re.compile(rf"`dpsync ({_WORD}(?: {_WORD})*)`")


def command(*words: str) -> str:
    """A command as a part of a sentence: `dpsync ids --forget acme/teams/writers`, quoted for a shell."""
    return f"`dpsync {shlex.join(words)}`"


class Invocation(Struct, frozen=True):
    """What the flags of a command said about where it works, as they were typed; None: it was not given.

    What variables of the environment said is not here: it still counts where a printed command is run.
    """

    directory: str | None = None
    files: tuple[str, ...] = ()
    environment: str | None = None
    profile: str | None = None
    ids: str | None = None
    base: str | None = None
    trusted: str | None = None

    def flags(self, words: list[str]) -> list[str]:
        """The flags that a command with these words needs to work on the same."""
        known = _KNOWN.get(words[0], "directory")
        if words[0] == "import" and not {"--update", "--add"} & {*words}:
            known = "directory profile ids"
        found: list[str] = []
        for name in known.split():
            values = self.files if name == "files" else (getattr(self, name),)
            found += [part for value in values if value is not None for part in (_FLAGS[name], value)]
        return found

    def complete(self, text: str) -> str:
        """A sentence with its commands as they are to be typed."""
        return _COMMAND.sub(lambda found: self._typed(found[1]), text) if "`dpsync " in text else text

    def _typed(self, written: str) -> str:
        words = shlex.split(written)
        return " ".join(map(_word, ["dpsync", words[0], *self.flags(words), *words[1:]]))


def _word(text: str) -> str:
    """A word for a shell, on one line whatever is in it."""
    if not _UNSEEN.search(text):
        return shlex.quote(text)
    plain = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{_UNSEEN.sub(_bytes, plain)}'"


def _bytes(found: re.Match[str]) -> str:
    return "".join(f"\\x{byte:02x}" for byte in found[0].encode("utf-8", "surrogateescape"))


NOWHERE: Final = Invocation()
"""Of a command that was run without such flags."""
_FLAGS: Final = {
    "directory": "-C", "files": "-f", "environment": "--env", "profile": "--profile", "ids": "--ids",
    "base": "--base", "trusted": "--trust-environment",
}  # fmt: skip
_READING: Final = "directory files environment profile ids trusted"
_PLANNING: Final = f"{_READING} base"
_KNOWN: Final = {
    "plan": _PLANNING, "apply": _PLANNING, "revert": _PLANNING, "drift": _PLANNING,
    "ids": _READING, "import": _READING,
    "validate": "directory files environment profile", "explain": "", "completion": "", "version": "",
    "fmt": "directory", "init": "directory",
    "list": _READING, "doctor": _READING,
    "config": "directory files environment profile",
}  # fmt: skip
"""What each command takes of it; the others take a directory."""
