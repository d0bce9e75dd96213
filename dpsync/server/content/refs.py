"""Content references and their Markdown syntax.

A link to an object by its id is a path: `/pages/ID`, `/spaces/ID/pages/ID`, `/files/ID`. An anchor follows a
page as `#anchor`. Every other target is a URL; a relative URL is a path among the pages.
"""

import re

from .documents import Json

Ref = Json

_KINDS = {
    "pages": ("page", "page"),
    "files": ("file", "file"),
    "reusable-contents": ("reusable-content", "reusableContent"),
    "tags": ("tag", "tag"),
    "users": ("user", "user"),
    "collections": ("collection", "collection"),
    "openapi": ("openapi", "spec"),
}
_WORDS = {kind: (word, member) for word, (kind, member) in _KINDS.items()}
_IN_A_SPACE = frozenset({"page", "file", "reusable-content", "tag"})
_ID = r"[A-Za-z0-9_.-]+"
_BY_ID = re.compile(
    rf"(?:/spaces/(?P<space>{_ID}))?(?:/(?P<word>{'|'.join(_KINDS)})/(?P<id>{_ID}))?(?:#(?P<anchor>\S*))?"
)


def from_target(target: str) -> Ref:
    found = _BY_ID.fullmatch(target) if target.startswith("/") else None
    if found is None or (found["space"] is None and found["word"] is None):
        return {"kind": "url", "url": target}
    if found["word"] is None:
        return {"kind": "space", "space": found["space"]}
    kind, member = _KINDS[found["word"]]
    ref: Ref = {"kind": kind, member: found["id"]}
    if kind in _IN_A_SPACE and found["space"]:
        ref["space"] = found["space"]
    if kind == "page" and found["anchor"]:
        ref |= {"kind": "anchor", "anchor": found["anchor"]}
    return ref


def to_target(ref: Ref) -> str:
    kind = str(ref.get("kind"))
    if kind == "url":
        return str(ref.get("url", ""))
    space = f"/spaces/{ref['space']}" if ref.get("space") else ""
    if kind == "space":
        return space
    if kind == "anchor":
        page = f"/pages/{ref['page']}" if ref.get("page") else ""
        return f"{space}{page}#{ref.get('anchor', '')}"
    if kind not in _WORDS:
        return ""
    word, member = _WORDS[kind]
    return f"{space}/{word}/{ref.get(member, '')}"
