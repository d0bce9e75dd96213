"""Format texts: plurals, lists, commands, JSON, suggestions, and visible control characters.

Which characters are never put out as they are: they move, colour, hide, reorder or forge what is seen.

The text goes into a character class. Joiners (U+200C, U+200D) are in it although emoji
use them: an escape in the middle of a family is a smaller harm than two names that look the same.

Commands of dpsync in texts: how one is written into a sentence, and completed when it is printed.

A sentence holds a command in backticks, as `command` writes it: without the flags of the run that prints it,
so that a plan has the same bytes wherever it is made. Whatever prints the sentence puts those flags in
(`Invocation.complete`). Then the command, copied, works on the files, the environment and the platform that
the sentence is about. A command is the end of its sentence, so that a whole line can be copied.

Everything that dpsync prints or saves as JSON is written here.

The result is valid JSON that parses to the same value, and no character of it can hide, reorder or control
anything where somebody looks at it: a terminal, a log of CI, a review.

What somebody probably meant to type. Words only; no knowledge of what they stand for.

Numbers and names in messages: the one place that knows "1 entry" from "2 entries".
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from pydantic_core import PydanticSerializationError, to_json

UNSEEN: Final = (
    "\x00-\x1f\x7f-\x9f"  # controls, escape sequences
    "\u2028\u2029"  # line and paragraph separators
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u00ad\u034f\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\ufeff"  # invisible
    "\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # letters and signs without a shape
    "\ufe00-\ufe0d"  # variation selectors that no emoji has, which can carry hidden text
    "\ufdd0-\ufdef\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"  # annotations, non-characters, surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # formats of shorthand and music
    "\U000e0000-\U000e0fff"  # tags and variation selectors that carry hidden text
)
PRESENTATION: Final = "\ufe0e\ufe0f"
"""Whether a sign is text or emoji. A terminal needs them for the right width; data does not."""


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


# Controls below U+0020 are escaped inside of texts already; outside of texts, the line breaks are our own.
_ESCAPED: Final = re.compile(f"(?![\\x00-\\x1f])[{UNSEEN}{PRESENTATION}]")


def json_text(value: Any, indent: int | None = None, context: str | None = None) -> str:
    """A model or plain data as JSON text, without a line break at its end.

    `context` is what pydantic hands to the serializers of models.
    """
    try:
        text = to_json(value, indent=indent, context=context).decode()
    except PydanticSerializationError:
        # A lone surrogate: the name of a file or an argument that is not UTF-8.
        text = json.dumps(_plain(value), indent=indent, separators=None if indent else (",", ":"))
    return escaped(text)


def _plain(value: Any) -> Any:
    from pydantic import BaseModel  # no command needs it for this but one in thousands

    if isinstance(value, BaseModel):
        return {name: _plain(item) for name, item in value}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def escaped(text: str) -> str:
    """JSON text with nothing hidden in it; for what is laid out elsewhere."""
    if text.isascii() and "\x7f" not in text:  # nearly every text, and a look costs a hundredth of a search
        return text
    return _ESCAPED.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]


_LONGEST: Final = 100


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to a mistyped word, whatever their order; None when none is close.

    Who is meant by an e-mail is not guessed: another one is another person.
    """
    if not word or len(word) > _LONGEST or "@" in word:
        return None
    # A comparison costs the product of both lengths, so hopeless candidates are left out first.
    reach = max(2, len(word) // 2)
    nearest = sorted(
        {c for c in candidates if c != word and abs(len(c) - len(word)) <= reach and "@" not in c}
    )
    folded: dict[str, str] = {}
    for candidate in nearest:
        folded.setdefault(candidate.casefold(), candidate)
    from difflib import get_close_matches  # few commands have anything to suggest

    found = get_close_matches(word.casefold(), list(folded), n=1, cutoff=0.65)
    return next(map(folded.__getitem__, found), None)


FEW: Final = 3
"""Things that a sentence names; it counts the others."""


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 entry`, `2 entries`, `0 integrations on a space`."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """The plural of an English noun. Of `section of a site` it is the first part that changes."""
    head, *rest = re.split(r"(?= on | of )", noun, maxsplit=1)
    regular = f"{head[:-1]}ies" if re.search(r"[^aeiou]y$", head) else f"{head}s"
    return "".join([regular, *rest])


def are(number: int) -> str:
    """The verb behind a number: `1 is`, `2 are`."""
    return "is" if number == 1 else "are"


def allowed(least: int, most: int | None, noun: str) -> str:
    """Return the limits of a number: `2 to 5 keys are allowed`, `at least 1 key is required`."""
    if most is None:
        return f"at least {counted(least, noun)} {are(least)} required"
    if least == most:
        return f"exactly {counted(most, noun)} {are(most)} required"
    limits = counted(most, noun)
    return f"{least} to {limits} are allowed" if least else f"at most {limits} {are(most)} allowed"


def short_commit(commit: str) -> str:
    """A commit as people know it: the first twelve digits of its name."""
    return commit[:12]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a`, `a and b`, `a, b and c`."""
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last


def one_or_other(names: Sequence[str]) -> str:
    """Return alternatives in a sentence: `a`, `a or b`, `a, b or c`; empty without names."""
    *some, last = names or [""]
    return f"{', '.join(some)} or {last}" if some else last


def some(names: Sequence[str], most: int = FEW) -> str:
    """The first few names of a list, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
