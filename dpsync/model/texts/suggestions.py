"""What somebody probably meant to type. Words only; no knowledge of what they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

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
