"""Format texts: plurals, lists, commands, JSON, suggestions, and visible control characters.

Everything that dpsync prints or saves as JSON is written here (`json_text`): valid JSON without characters
that can hide, reorder or control anything in a terminal, a CI log or a review. Messages contain commands in
backticks, as `format_command` writes them, without the flags of the current run, so that a plan has the same
bytes everywhere. `ProjectFlags.add_flags_to_commands` adds these flags when a message is printed. A command
ends its sentence, so that people can copy the whole line.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from pydantic_core import PydanticSerializationError, to_json

INVISIBLE_CHARACTERS: Final = (
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
EMOJI_SELECTORS: Final = "\ufe0e\ufe0f"
"""Whether a sign is text or emoji. A terminal needs them for the right width; data does not."""


_WORD: Final = r"""(?:[^\s`'"]|'[^']*'|"[^"]*")+"""
_INVISIBLE: Final = re.compile(f"[{INVISIBLE_CHARACTERS}]")
_COMMAND: Final = re.compile(rf"`dpsync ({_WORD}(?: {_WORD})*)`")


def format_command(*words: str) -> str:
    """Return a command for a message: `dpsync ids --forget acme/teams/writers`, quoted for a shell."""
    return f"`dpsync {shlex.join(words)}`"


class ProjectFlags(Struct, frozen=True):
    """The flags of a command that say which project it works on, as typed; None: the flag was not used.

    Environment variables are not included, because they also apply to the printed command.
    """

    directory: str | None = None
    files: tuple[str, ...] = ()
    environment: str | None = None
    profile: str | None = None
    ids: str | None = None
    base: str | None = None
    trusted: str | None = None

    def flags_for(self, words: list[str]) -> list[str]:
        """Return the flags that a printed command needs to work on the same project as this run.

        `words` are the words of the command: `["ids", "--forget", "acme/teams/writers"]`.
        """
        flag_names = _FLAGS_OF_COMMAND.get(words[0], "directory")
        if words[0] == "import" and not {"--update", "--add"} & {*words}:
            flag_names = "directory profile ids"
        flags: list[str] = []
        for name in flag_names.split():
            values = self.files if name == "files" else (getattr(self, name),)
            flags += [part for value in values if value is not None for part in (_FLAGS[name], value)]
        return flags

    def add_flags_to_commands(self, text: str) -> str:
        """Return a message in which each command has the flags that it needs."""
        return _COMMAND.sub(lambda command: self._add_flags(command[1]), text) if "`dpsync " in text else text

    def _add_flags(self, command_text: str) -> str:
        """Return the text of a command with the flags that it needs, quoted for a shell."""
        words = shlex.split(command_text)
        return " ".join(map(_quote_for_shell, ["dpsync", words[0], *self.flags_for(words), *words[1:]]))


def _quote_for_shell(text: str) -> str:
    """Return a word quoted for a shell. Invisible characters become escapes, so that the word is visible."""
    if not _INVISIBLE.search(text):
        return shlex.quote(text)
    escaped_quotes = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{_INVISIBLE.sub(_escape_bytes, escaped_quotes)}'"


def _escape_bytes(found: re.Match[str]) -> str:
    r"""Return the matched character as escapes of a shell: `\x0a` for a line break."""
    return "".join(f"\\x{byte:02x}" for byte in found[0].encode("utf-8", "surrogateescape"))


NO_FLAGS: Final = ProjectFlags()
"""Of a command that was run without such flags."""
_FLAGS: Final = {
    "directory": "-C", "files": "-f", "environment": "--env", "profile": "--profile", "ids": "--ids",
    "base": "--base", "trusted": "--trust-environment",
}  # fmt: skip
_READ_FLAGS: Final = "directory files environment profile ids trusted"
_PLAN_FLAGS: Final = f"{_READ_FLAGS} base"
_FLAGS_OF_COMMAND: Final = {
    "plan": _PLAN_FLAGS, "apply": _PLAN_FLAGS, "revert": _PLAN_FLAGS, "drift": _PLAN_FLAGS,
    "ids": _READ_FLAGS, "import": _READ_FLAGS,
    "validate": "directory files environment profile", "explain": "", "completion": "", "version": "",
    "fmt": "directory", "init": "directory",
    "list": _READ_FLAGS, "doctor": _READ_FLAGS,
    "config": "directory files environment profile",
}  # fmt: skip
"""The flags that each command takes; other commands take only the directory."""


# The JSON serializer has already escaped controls below U+0020 in texts. The others are our line breaks.
_ESCAPED: Final = re.compile(f"(?![\\x00-\\x1f])[{INVISIBLE_CHARACTERS}{EMOJI_SELECTORS}]")


def json_text(value: Any, indent: int | None = None, context: str | None = None) -> str:
    """Return a model or plain data as JSON text, without a line break at its end.

    `context` is passed to the pydantic serializers of models.
    """
    try:
        text = to_json(value, indent=indent, context=context).decode()
    except PydanticSerializationError:
        # The value contains a lone surrogate: from a file name or an argument that is not UTF-8.
        text = json.dumps(_to_plain_data(value), indent=indent, separators=None if indent else (",", ":"))
    return escape_invisible(text)


def _to_plain_data(value: Any) -> Any:
    """Return a model or nested data as dicts, lists and scalars."""
    from pydantic import BaseModel  # imported late, because this is very rarely needed

    if isinstance(value, BaseModel):
        return {name: _to_plain_data(field_value) for name, field_value in value}
    if isinstance(value, Mapping):
        return {key: _to_plain_data(member) for key, member in value.items()}
    return [_to_plain_data(item) for item in value] if isinstance(value, list | tuple) else value


def escape_invisible(text: str) -> str:
    """Return JSON text in which invisible characters, which could hide or reorder text, are escaped."""
    if text.isascii() and "\x7f" not in text:  # nearly every text; this check is much faster than the search
        return text
    return _ESCAPED.sub(lambda match: json.dumps(match.group())[1:-1], text)


_MAX_WORD_CHARS: Final = 100


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate closest to a mistyped word; None if no candidate is close.

    The order of the candidates does not matter. E-mail addresses are never suggested, because another address
    is another person.
    """
    if not word or len(word) > _MAX_WORD_CHARS or "@" in word:
        return None
    # A comparison takes time proportional to both lengths, so skip candidates of very different length.
    max_length_difference = max(2, len(word) // 2)
    similar_length = sorted(
        {
            candidate
            for candidate in candidates
            if candidate != word
            and abs(len(candidate) - len(word)) <= max_length_difference
            and "@" not in candidate
        }
    )
    candidates_by_folded_text: dict[str, str] = {}
    for candidate in similar_length:
        candidates_by_folded_text.setdefault(candidate.casefold(), candidate)
    from difflib import get_close_matches  # imported late, because few commands have a suggestion

    matches = get_close_matches(word.casefold(), list(candidates_by_folded_text), n=1, cutoff=0.65)
    return next(map(candidates_by_folded_text.__getitem__, matches), None)


MAX_LISTED_NAMES: Final = 3
"""Things that a sentence names; it counts the others."""


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 entry`, `2 entries`, `0 integrations on a space`."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of an English noun: `section of a site` becomes `sections of a site`."""
    head, *qualifier = re.split(r"(?= on | of )", noun, maxsplit=1)
    if re.search(r"[^aeiou]y$", head):
        plural_head = f"{head[:-1]}ies"
    else:
        plural_head = f"{head}es" if head.endswith("ss") else f"{head}s"
    return "".join([plural_head, *qualifier])


def is_or_are(number: int) -> str:
    """Return the verb for a number: "is" for 1, "are" otherwise."""
    return "is" if number == 1 else "are"


def format_limits(least: int, most: int | None, noun: str) -> str:
    """Return the limits of a number: `2 to 5 keys are allowed`, `at least 1 key is required`."""
    if most is None:
        return f"at least {format_count(least, noun)} {is_or_are(least)} required"
    if least == most:
        return f"exactly {format_count(most, noun)} {is_or_are(most)} required"
    limits = format_count(most, noun)
    return f"{least} to {limits} are allowed" if least else f"at most {limits} {is_or_are(most)} allowed"


def short_commit(commit: str) -> str:
    """Return the first twelve digits of a commit id."""
    return commit[:12]


def join_with_and(names: Sequence[str]) -> str:
    """Join names for a sentence: `a`, `a and b`, `a, b and c`."""
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last


def join_with_or(names: Sequence[str]) -> str:
    """Return alternatives in a sentence: `a`, `a or b`, `a, b or c`; empty without names."""
    *some, last = names or [""]
    return f"{', '.join(some)} or {last}" if some else last


def shorten_list(names: Sequence[str], most: int = MAX_LISTED_NAMES) -> str:
    """Return the first few names of a list, and the number of the other names: `a, b, c and 4 more`."""
    others = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{others}"
