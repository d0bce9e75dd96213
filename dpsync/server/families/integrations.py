"""Integrations, and what they are installed as."""

from ..events import EVENT, INTEGRATION, WAITING
from ..family import Columns, Family, Link
from ..images import BUNDLE
from ..installed import INSTALLATION, ON_SITE, ON_SPACE, take_off
from ..store import Record


def _by_id(of: Record) -> Columns:
    """In any organization."""
    return {"ref": of.id}


FAMILIES = (
    Family(INTEGRATION, owner="organization"),
    Family(BUNDLE, owner=INTEGRATION),
    Family(EVENT, owner=INTEGRATION, also=WAITING),
    Family(WAITING, owner=INTEGRATION),
    Family(INSTALLATION, owner="organization", links=(Link(INTEGRATION, _by_id),)),
    Family(ON_SPACE, owner=INSTALLATION, links=(Link("space", _by_id, gone=take_off),)),
    Family(ON_SITE, owner=INSTALLATION, links=(Link("site", _by_id, gone=take_off),)),
)
