"""Append one content to another, as applying a template does.

Pages get new ids, and references to them are updated. A file, reusable content or variable is skipped if its
id or name exists already. A link to `./NAME` becomes the reference that the caller passes for this name.
"""

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from .documents import Json
from .page_tree import unused_slug, walk_pages
from .refs import format_target

_PAGE_LINK = re.compile(r"(?<=\]\()/pages/([A-Za-z0-9_.-]+)")


def append_template(
    content: Json, template: Json, refs: Mapping[str, Json], now: str, new_page_id: Callable[[], str]
) -> Json:
    """Return the content with the template appended. `refs` are references by name."""
    made, copied = deepcopy(content), deepcopy(template)
    taken = {page["id"] for page, _ in walk_pages([*made["pages"], *copied["pages"]])}
    ids: dict[str, str] = {}
    for page, _ in walk_pages(copied["pages"]):
        while (id := new_page_id()) in taken:
            pass
        ids[page["id"]] = id
        page |= {"id": id, "createdAt": now, "updatedAt": now}
    for source in (*(page for page, _ in walk_pages(copied["pages"])), *copied["reusableContents"]):
        if "body" in source:
            source["body"] = _relink_body(source["body"], ids, refs)
    for page in copied["pages"]:
        page["slug"] = unused_slug(page["slug"], made["pages"])
        made["pages"].append(page)
    for part in ("files", "reusableContents"):
        there = {item["id"] for item in made[part]}
        made[part] += [item for item in copied[part] if item["id"] not in there]
    made["variables"] = {**copied["variables"], **made["variables"]}
    return made


def _relink_body(body: Json, ids: Mapping[str, str], refs: Mapping[str, Json]) -> Json:
    if "document" in body:
        return {"document": _replace_page_ids(body["document"], ids)}
    text = _PAGE_LINK.sub(lambda found: f"/pages/{ids.get(found[1], found[1])}", body["markdown"])
    for name, ref in refs.items():
        text = text.replace(f"](./{name})", f"]({format_target(ref)})")
    return {"markdown": text}


def _replace_page_ids(node: Any, ids: Mapping[str, str]) -> Any:
    if isinstance(node, list):
        return [_replace_page_ids(child, ids) for child in node]
    if not isinstance(node, dict):
        return node
    made = {name: _replace_page_ids(value, ids) for name, value in node.items()}
    if made.get("kind") in ("page", "anchor") and not made.get("space") and made.get("page") in ids:
        made["page"] = ids[made["page"]]
    return made
