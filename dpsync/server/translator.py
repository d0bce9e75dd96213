"""The stand-in translator: deterministic, and a translation in name only.

It puts the language in front of a text and leaves the text as it is, so that everybody sees what it is and
the same text always gives the same result. What the platform's translator would write cannot be known here.
"""


def translated(text: str, language: str, longest: int) -> str:
    """`[fr] Guides`, cut to the length that the field may have."""
    return f"[{language}] {text}"[:longest].rstrip()


def words(text: str) -> int:
    return len(text.split())
