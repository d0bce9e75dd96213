"""Sites, the nodes of their navigation, and what a site has beside it."""

from ..family import Columns, Family, Link
from ..navigation import GROUP, LINK, OVERRIDES, PLACE, REDIRECT, SECTION, take_out, target
from ..publishing import CUSTOMIZATION, SHARE_LINK, VISITOR_AUTH
from ..store import Record


def _in_section(section: Record) -> Columns:
    return {"scope": section.scope, "parent": section.id}


def _shown(space: Record) -> Columns:
    return {"ref": space.id}


def _to_node(node: Record) -> Columns:
    return {"scope": node.scope, "parent": target(node)}


def _same_id(place: Record) -> Columns:
    return {"id": place.id}


FAMILIES = (
    Family("site", owner="organization"),
    Family("adaptive-schema", owner="site"),
    Family(GROUP, owner="site"),
    Family(SECTION, owner="site"),
    Family(LINK, owner="site"),
    Family(PLACE, owner="site", links=(Link(SECTION, _in_section), Link("space", _shown, gone=take_out))),
    Family(OVERRIDES, owner="site", links=(Link(PLACE, _same_id),)),
    Family(REDIRECT, owner="site", links=(Link(SECTION, _to_node), Link(PLACE, _to_node))),
    Family(SHARE_LINK, owner="site"),
    Family(CUSTOMIZATION, owner="site"),
    Family(VISITOR_AUTH, owner="site"),
)
