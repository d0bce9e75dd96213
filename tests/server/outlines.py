"""Navigations as tests look at them: by ids, as nested tuples."""

from typing import Any

from companion_calls import Api

DOCS = "/orgs/acme/sites/docs"
HELP = "/orgs/acme/sites/help"


def outline(nodes: list[Any]) -> list[Any]:
    """Return a structure by ids: groups as (id, children), a default with a star."""
    shown: list[Any] = []
    for node in nodes:
        star = "*" if node.get("default") else ""
        if node["object"] == "site-section-group":
            shown.append((node["id"], outline(node["children"])))
        elif node["object"] == "site-section":
            shown.append((node["id"] + star, outline(node["siteSpaces"])))
        else:
            shown.append(node["id"] + star)
    return shown


def tree(api: Api, site: str = DOCS) -> list[Any]:
    return outline(api.get(f"{site}/structure")["structure"])


GUIDES = ("docs-guides*", ["docs-guides-en*"])
NEWS = ("docs-news", ["docs-news-latest*"])
API = ("docs-api", ["docs-api-reference*", "docs-api-changelog"])


def item(kind: str, id: str) -> dict[str, str]:
    return {"type": kind, "id": id}
