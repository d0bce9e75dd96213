"""Convert content references (links to pages, spaces, files and URLs) to Markdown link targets, and back.

A link to an object by its id is a path: `/pages/ID`, `/spaces/ID/pages/ID`, `/files/ID`. An anchor follows a
page as `#anchor`. Every other target is a URL; a relative URL is a path among the pages.
"""

import re

from .documents import Json

Ref = Json

_KINDS_BY_PATH_WORD = {
    "pages": ("page", "page"),
    "files": ("file", "file"),
    "reusable-contents": ("reusable-content", "reusableContent"),
    "tags": ("tag", "tag"),
    "users": ("user", "user"),
    "collections": ("collection", "collection"),
    "openapi": ("openapi", "spec"),
}
_PATH_WORDS_BY_KIND = {kind: (word, member) for word, (kind, member) in _KINDS_BY_PATH_WORD.items()}
_KINDS_IN_SPACES = frozenset({"page", "file", "reusable-content", "tag"})
_ID_PATTERN = r"[A-Za-z0-9_.-]+"
_REF_PATH = re.compile(
    rf"(?:/spaces/(?P<space>{_ID_PATTERN}))?(?:/(?P<word>{'|'.join(_KINDS_BY_PATH_WORD)})/(?P<id>{_ID_PATTERN}))?(?:#(?P<anchor>\S*))?"
)


def parse_target(target: str) -> Ref:
    """Return the reference that a link target expresses, such as `/spaces/ID/pages/ID#anchor`."""
    match = _REF_PATH.fullmatch(target) if target.startswith("/") else None
    if match is None or (match["space"] is None and match["word"] is None):
        return {"kind": "url", "url": target}
    if match["word"] is None:
        return {"kind": "space", "space": match["space"]}
    kind, member = _KINDS_BY_PATH_WORD[match["word"]]
    ref: Ref = {"kind": kind, member: match["id"]}
    if kind in _KINDS_IN_SPACES and match["space"]:
        ref["space"] = match["space"]
    if kind == "page" and match["anchor"]:
        ref |= {"kind": "anchor", "anchor": match["anchor"]}
    return ref


def format_target(ref: Ref) -> str:
    """Return a reference as a link target, the reverse of `parse_target`. An unknown kind gives ""."""
    kind = str(ref.get("kind"))
    if kind == "url":
        return str(ref.get("url", ""))
    space = f"/spaces/{ref['space']}" if ref.get("space") else ""
    if kind == "space":
        return space
    if kind == "anchor":
        page = f"/pages/{ref['page']}" if ref.get("page") else ""
        return f"{space}{page}#{ref.get('anchor', '')}"
    if kind not in _PATH_WORDS_BY_KIND:
        return ""
    word, member = _PATH_WORDS_BY_KIND[kind]
    return f"{space}/{word}/{ref.get(member, '')}"
