"""The glossary of an organization: entries of one term in several languages."""

from typing import Any

from ... import answers
from ...errors import missing
from ...request.context import Context
from ...request.paging import list_page
from ...store import Record

Json = dict[str, Any]
KIND = "glossary-entry"


def list_entries(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query

    def key(entry: Record) -> list[Any]:
        term = entry.doc["translations"].get(query.orderBy)
        return [term is None, (term or "").casefold(), entry.seq]

    found = sorted(ctx.store.find(KIND, organization=organization.id), key=key)
    return list_page(ctx, found, answers.glossary_entry, key)


def change_entries(ctx: Context) -> None:
    """All operations in their order, or none. An update replaces the terms; deleting what is absent is no
    failure.
    """
    organization = ctx.organization()
    for index, operation in enumerate(ctx.body.given()["operations"]):
        if operation["type"] == "insert":
            doc = {"translations": operation["translations"]}
            ctx.put(Record(KIND, ctx.new_id(KIND), doc, organization.id, organization.id))
            continue
        found = ctx.store.get(KIND, operation["id"])
        entry = found if found is not None and found.organization == organization.id else None
        if operation["type"] == "update":
            if entry is None:
                raise missing(f"body.operations.{index}: glossary entry", operation["id"])
            entry.doc["translations"] = operation["translations"]
            ctx.put(entry)
        elif entry is not None:
            ctx.remove(entry)
