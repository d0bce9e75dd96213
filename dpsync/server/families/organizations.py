"""Organizations with their people, and what lets people in."""

from collections.abc import Callable

from ..access import GRANT
from ..context import Context
from ..family import Columns, Family, Link, clear
from ..grants import INVITE
from ..handlers import saml
from ..store import Record


def _default_site(organization: Record, site: Record) -> bool:
    return (organization.doc.get("defaultContent") or {}).get("site") == site.id


def _forget_default(ctx: Context, organization: Record) -> None:
    organization.doc["defaultContent"] = None
    ctx.put(organization)


def _of_user(member: Record) -> Columns:
    return {"organization": member.organization, "ref": member.ref}


def _on(item: Record) -> Columns:
    return {"scope": item.id, "parent": item.kind.removeprefix("deleted-")}


def _given_to(to: str) -> Callable[[Record, Record], bool]:
    return lambda grant, _: bool(grant.doc["to"] == to)


def _leads_to(invite: Record, item: Record) -> bool:
    return item.kind.removeprefix("deleted-") in invite.doc


FAMILIES = (
    Family("organization", links=(
        Link("site", lambda site: {"id": site.organization}, only=_default_site, gone=_forget_default),
    )),
    Family("user"),
    Family("token"),
    Family("member", owner="organization"),
    Family("team", owner="organization"),
    Family("membership", owner="team", links=(Link("member", _of_user),)),
    Family(GRANT, links=(
        Link("member", _of_user, only=_given_to("user")),
        Link("team", only=_given_to("team")),
        Link("collection", _on),
        Link("space", _on, kept=True),
        Link("site", _on),
    )),
    Family("agent-instructions", owner="organization"),
    Family(saml.KIND, owner="organization", links=(Link("team", gone=clear("ref")),)),
    Family(INVITE, owner="organization", links=(
        Link("collection", only=_leads_to),
        Link("space", only=_leads_to, kept=True),
    )),
)  # fmt: skip
