"""Find issues in conversations of readers by simple rules: a deterministic stand-in for GitBook's analysis.

The rules look at words, so that readers can see why an issue exists, and the same conversation always has the
same issues. The local server cannot know what GitBook's analysis would find.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

IMPACTS = ("low", "medium", "high")
NO_TOPIC = "other"
"""The topic of a text that has no words."""

_MAX_TITLE_LENGTH = 100
_MAX_WORD_LENGTH = 40
_WORD = re.compile(r"[^\W_]+")
_SENTENCE = re.compile(r"[^.!?\n]+[!?]?")
_STOP_WORD_TEXT = """
    a an and are as at be been but by can cannot could do does doing don for from get had has have hello help
    hi how i if in into is isn it its just me my need no not of on or our please so t than thank thanks that
    the their them then there they this to too use using very want was we were what when where which who why
    will with work working works would you your
"""
_STOP_WORDS = frozenset(_STOP_WORD_TEXT.split())
_HIGH_IMPACT_WORDS = frozenset(
    ("blocked", "broken", "cannot", "corrupted", "crash", "crashed", "crashes", "down", "impossible",
     "lost", "outage", "unusable")
)  # fmt: skip
_MEDIUM_IMPACT_WORDS = frozenset(
    ("bug", "confusing", "error", "errors", "fail", "failed", "fails", "missing", "slow", "stuck",
     "timeout", "unclear", "wrong")
)  # fmt: skip


class FoundIssue(Struct, frozen=True):
    """An issue. Issues with the same `topic` belong to the same cluster."""

    topic: str
    title: str
    text: str
    impact: str


def find_issues(subject: str, parts: Iterable[dict[str, Any]]) -> list[FoundIssue]:
    """Return the issues of a conversation.

    The opening is an issue: the subject, or else the first message of a user. Each later message of a user
    that asks a question or contains a problem word is one more issue, unless the topic occurred before.
    """
    messages = [part["body"] for part in parts if part["role"] == "user" and part["body"].strip()]
    texts = messages or [subject]
    issues: dict[str, FoundIssue] = {}
    for index, text in enumerate(texts):
        if index == 0 and subject.strip():
            title = subject
        else:
            sentence = _SENTENCE.search(text)
            title = (sentence[0] if sentence else text).strip()[:_MAX_TITLE_LENGTH].rstrip()
        whole_text = f"{title} {text}"
        if title and (index == 0 or "?" in text or impact_of(text) != "low"):
            issues.setdefault(
                topic_of(title), FoundIssue(topic_of(title), title, text, impact_of(whole_text))
            )
    return list(issues.values())


def topic_of(text: str) -> str:
    """Return the first two significant words of a text, sorted and without a plural s, joined by a hyphen."""
    words = [word[:_MAX_WORD_LENGTH] for word in _words(text)]
    significant = [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
        if word not in _STOP_WORDS
    ] or words
    return "-".join(sorted(list(dict.fromkeys(significant))[:2])) or NO_TOPIC


def impact_of(text: str) -> str:
    """Return the impact of the most serious problem word in the text."""
    words = set(_words(text))
    if words & _HIGH_IMPACT_WORDS:
        return "high"
    return "medium" if words & _MEDIUM_IMPACT_WORDS else "low"


def highest_impact(impacts: Sequence[str]) -> str:
    """Return the most serious of the impacts, or `low` if there are none."""
    return max(impacts, key=IMPACTS.index, default="low")


def _words(text: str) -> list[str]:
    """Return the case-folded words of a text."""
    return _WORD.findall(text.casefold())
