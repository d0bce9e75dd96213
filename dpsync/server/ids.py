"""Ids of what is made: a word for its kind, and a number that counts up."""

from .store import Store

_PREFIXES = {
    "organization": "org",
    "user": "user",
    "team": "team",
    "collection": "col",
    "space": "space",
    "site": "site",
    "section-group": "group",
    "section": "sect",
    "site-space": "place",
    "external-link": "link",
    "redirect": "redirect",
    "share-link": "share",
    "glossary-entry": "term",
    "saml-provider": "saml",
    "link-invite": "invite",
    "openapi-spec": "spec",
    "openapi-version": "version",
    "translation": "translation",
    "change-request": "cr",
    "review": "review",
    "revision": "revision",
    "page": "page",
    "file": "file",
    "comment": "comment",
    "comment-reply": "reply",
    "installation": "installation",
    "integration-event": "event",
    "conversation-issue": "issue",
    "issues-cluster": "cluster",
}


def new_id(store: Store, kind: str) -> str:
    """The next free id of a kind: the same requests on the same world give the same ids."""
    while True:
        id = f"{_PREFIXES[kind]}-{store.next(kind)}"
        if store.get(kind, id) is None and (kind != "space" or store.get("deleted-space", id) is None):
            return id
