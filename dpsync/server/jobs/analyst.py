"""The stand-in analyst of conversations: deterministic rules instead of a real analysis.

The analyst finds issues by simple rules on words, so that readers can see why an issue exists, and the same
conversation always has the same issues. The companion cannot know what GitBook's analysis would find.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

IMPACTS = ("low", "medium", "high")
NOTHING = "other"
"""The topic of a text without a word."""

_LONGEST_TITLE = 100
_LONGEST_WORD = 40
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"[^.!?\n]+[!?]?")
_SAY_NOTHING = """
    a an and are as at be been but by can cannot could do does doing don for from get had has have hello help
    hi how i if in into is isn it its just me my need no not of on or our please so t than thank thanks that
    the their them then there they this to too use using very want was we were what when where which who why
    will with work working works would you your
"""
_STOP_WORDS = frozenset(_SAY_NOTHING.split())
_HIGH = frozenset(
    ("blocked", "broken", "cannot", "corrupted", "crash", "crashed", "crashes", "down", "impossible",
     "lost", "outage", "unusable")
)  # fmt: skip
_MEDIUM = frozenset(
    ("bug", "confusing", "error", "errors", "fail", "failed", "fails", "missing", "slow", "stuck",
     "timeout", "unclear", "wrong")
)  # fmt: skip


class FoundIssue(Struct, frozen=True):
    """An issue. Issues with the same `topic` belong to the same cluster."""

    topic: str
    title: str
    text: str
    impact: str


def findings(subject: str, parts: Iterable[dict[str, Any]]) -> list[FoundIssue]:
    """Return the issues of a conversation.

    The opening is an issue: the subject, or else the first message of a user. Each later message of a user
    that asks a question or contains a problem word is one more issue, unless the topic occurred before.
    """
    messages = [part["body"] for part in parts if part["role"] == "user" and part["body"].strip()]
    texts = messages or [subject]
    found: dict[str, FoundIssue] = {}
    for at, text in enumerate(texts):
        title = subject if at == 0 and subject.strip() else _first_sentence(text)
        about = f"{title} {text}"
        if title and (at == 0 or "?" in text or impact(text) != "low"):
            found.setdefault(topic(title), FoundIssue(topic(title), title, text, impact(about)))
    return list(found.values())


def topic(text: str) -> str:
    """Return the first two significant words of a text, sorted and without a plural s, joined by a hyphen."""
    words = [word[:_LONGEST_WORD] for word in _words(text)]
    telling = [_singular(word) for word in words if word not in _STOP_WORDS] or words
    return "-".join(sorted(list(dict.fromkeys(telling))[:2])) or NOTHING


def impact(text: str) -> str:
    """Return the impact of the most serious problem word in the text."""
    words = set(_words(text))
    if words & _HIGH:
        return "high"
    return "medium" if words & _MEDIUM else "low"


def gravest(impacts: Sequence[str]) -> str:
    return max(impacts, key=IMPACTS.index, default="low")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _first_sentence(text: str) -> str:
    found = _SENTENCE.search(text)
    return (found[0] if found else text).strip()[:_LONGEST_TITLE].rstrip()
