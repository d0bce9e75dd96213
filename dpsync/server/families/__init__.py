"""What the companion keeps: every family, in the order in which they are declared and a world is loaded."""

from ..family import Families
from . import content, integrations, organizations, sites, work

FAMILIES = Families(
    (
        *organizations.FAMILIES,
        *content.FAMILIES,
        *sites.FAMILIES,
        *work.FAMILIES,
        *integrations.FAMILIES,
    )
)
