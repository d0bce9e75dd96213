"""Append the content of a template to the content of a space, as GitBook does when a template is applied.

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
    content: Json, template: Json, refs: Mapping[str, Json], timestamp: str, new_page_id: Callable[[], str]
) -> Json:
    """Return the content with the template appended. `refs` are references by name."""
    result, copied = deepcopy(content), deepcopy(template)
    used_ids = {page["id"] for page, _ in walk_pages([*result["pages"], *copied["pages"]])}
    ids: dict[str, str] = {}
    for page, _ in walk_pages(copied["pages"]):
        while (id := new_page_id()) in used_ids:
            pass
        ids[page["id"]] = id
        page |= {"id": id, "createdAt": timestamp, "updatedAt": timestamp}
    for source in (*(page for page, _ in walk_pages(copied["pages"])), *copied["reusableContents"]):
        if "body" in source:
            source["body"] = _relink_body(source["body"], ids, refs)
    for page in copied["pages"]:
        page["slug"] = unused_slug(page["slug"], result["pages"])
        result["pages"].append(page)
    for part in ("files", "reusableContents"):
        existing_ids = {item["id"] for item in result[part]}
        result[part] += [item for item in copied[part] if item["id"] not in existing_ids]
    result["variables"] = {**copied["variables"], **result["variables"]}
    return result


def _relink_body(body: Json, ids: Mapping[str, str], refs: Mapping[str, Json]) -> Json:
    """Return the text of a page with new page ids in its links, and with `./NAME` replaced by references."""
    if "document" in body:
        return {"document": _replace_page_ids(body["document"], ids)}
    text = _PAGE_LINK.sub(lambda match: f"/pages/{ids.get(match[1], match[1])}", body["markdown"])
    for name, ref in refs.items():
        text = text.replace(f"](./{name})", f"]({format_target(ref)})")
    return {"markdown": text}


def _replace_page_ids(node: Any, ids: Mapping[str, str]) -> Any:
    """Return a node with the new ids of pages in its references, except references to other spaces."""
    if isinstance(node, list):
        return [_replace_page_ids(child, ids) for child in node]
    if not isinstance(node, dict):
        return node
    copy = {name: _replace_page_ids(value, ids) for name, value in node.items()}
    if copy.get("kind") in ("page", "anchor") and not copy.get("space") and copy.get("page") in ids:
        copy["page"] = ids[copy["page"]]
    return copy
