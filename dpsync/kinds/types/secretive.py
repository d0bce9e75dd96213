"""Whether a text looks like a secret: by the name that it stands under, by a form of tokens, or as random.

A guess, for warnings and for what is shown: nothing is refused because of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

LAST_WORDS: Final = frozenset({
    "token", "tokens", "secret", "secrets", "password", "passwords", "passwd", "pwd", "passphrase",
    "passcode", "credential", "credentials", "apikey", "apikeys", "authorization", "bearer", "dsn",
})  # fmt: skip
"""A name that ends with one of these names a secret: accessToken, SLACK_SECRET."""
KEYS: Final = frozenset({
    "api", "private", "secret", "access", "signing", "encryption", "auth", "service", "master", "account",
    "app", "client", "deploy", "license", "shared",
})  # fmt: skip
"""What makes a secret of a "key": privateKey, api-key."""
_HARMLESS: Final = frozenset({
    "none", "null", "true", "false", "on", "off", "yes", "no", "auto", "enabled", "disabled", "required",
    "optional", "default", "bearer", "basic",
})  # fmt: skip

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_FORMS: Final = re.compile(
    r"xox[a-z]-[\w-]{8,}"  # tokens of services that begin alike
    r"|gh[pousr]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|npm_\w{16,}"
    r"|[sr]k_(live|test)_\w{8,}|sk-[\w-]{16,}|\bSG\.[\w-]{16,}"
    r"|\b(AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.?"  # a JSON Web Token
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b(Bearer|Basic)\s+[\w.~+/=-]{8,}"
    r"|://[^\s/@:]*:[^\s/@]+@"  # a password in a URL
    r"|[?&](\w*(token|secret|password|signature)|sig|key|api_?key|access_?key)=[^&\s]{6,}"
    r"|hooks\.slack\.com/services/\w",
    re.IGNORECASE,
)
_PIECE: Final = re.compile(
    r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9]{16,}|[A-Za-z0-9+/]{20,}={1,2})(?![A-Za-z0-9+/=])"
)
_CHANGE: Final = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_CHANGES: Final = 3
"""How often letters and digits take turns in what is random; names do so once or twice."""
_BITS: Final = 3.0
"""Entropy per character of what is random, in bits."""


def looks_secret(name: str, text: str) -> bool:
    """Whether a text that stands under a name should rather be `{env: …}`."""
    bare = text.strip()
    if not bare or bare.lower() in _HARMLESS or re.fullmatch(r"\d{1,5}", bare):
        return False
    return _names_one(name) or bool(_FORMS.search(bare)) or any(map(_is_random, _PIECE.findall(bare)))


def _names_one(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    if not words:
        return False
    before = words[-2] if len(words) > 1 else ""
    return words[-1] in LAST_WORDS or (words[-1] in ("key", "keys") and before in KEYS)


def _is_random(piece: str) -> bool:
    if len(_CHANGE.findall(piece)) < _CHANGES:
        return False
    shares = [count / len(piece) for count in Counter(piece).values()]
    return -sum(share * math.log2(share) for share in shares) >= _BITS
