"""Agent instructions, SAML providers and link invites.

agentInstructions: {…}                                          # a document
samlProviders: [{id, label, entityID, certificate, ssoURL, defaultTeam, defaultRole}]
linkInvites: [{id, role, createdBy}]                            # or level with space or collection
"""

from .. import answers
from ..content.documents import stored_document
from ..handlers.people.joining import SAML_PROVIDER, begin_saml, write_saml
from ..models import joining as models
from ..models.base import RichTextDocument
from ..records.family import Dependency, Family, OrdinaryResource, clear
from ..records.grants import INVITE
from ..records.world_format import Dumping, Loading, WorldSection, but, listed
from ..store import Json, Record
from . import shapes


def _load_instructions(loading: Loading, organization: Record, given: Json) -> None:
    """Load the agent instructions. The first member of the organization counts as the last author."""
    first = next((record.ref for record in loading.records if record.scope == organization.id), "")
    kept = {"instructions": stored_document(given), "updatedAt": loading.then(), "updatedBy": first}
    loading.add(Record("agent-instructions", organization.id, kept, organization.id, organization.id))


def _dump_instructions(dumping: Dumping, organization: Record) -> Json | None:
    kept = dumping.store.get("agent-instructions", organization.id)
    return kept.doc["instructions"] if kept else None


def _load_invites(loading: Loading, organization: Record, given: list[Json]) -> None:
    for invite in loading.each(given):
        doc = {"createdAt": loading.then(), **but(invite, "id")}
        target = invite.get("space") or invite.get("collection") or ""
        id = loading.id(INVITE, invite)
        loading.add(Record(INVITE, id, doc, organization.id, organization.id, ref=target))


def _dump_invites(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created(INVITE, organization=organization.id)
    return [{"id": invite.id, **invite.doc} for invite in found]


def _leads_to(invite: Record, item: Record) -> bool:
    return item.kind.removeprefix("deleted-") in invite.doc


SAML = Family(
    SAML_PROVIDER, prefix="saml", owner="organization",
    depends_on=(Dependency("team", on_delete=clear("ref")),),
    world=listed(SAML_PROVIDER, "samlProviders", shape=list[shapes.SamlProvider], ref="defaultTeam",
                 label="Untitled", times=("createdAt",)),
    resource=OrdinaryResource("SAML provider", "/saml", "samlProviderId", answers.saml_provider,
                              models.SamlProvider, models.SamlProviderCreate, models.SamlProviderUpdate,
                              begin_saml, write_saml),
)  # fmt: skip

FAMILIES = (
    Family("agent-instructions", owner="organization",
           world=WorldSection("agentInstructions", _load_instructions, _dump_instructions,
                              shape=RichTextDocument)),
    SAML,
    Family(INVITE, prefix="invite", owner="organization",
           depends_on=(Dependency("collection", only=_leads_to),
                       Dependency("space", only=_leads_to, kept=True)),
           world=WorldSection("linkInvites", _load_invites, _dump_invites, shape=list[shapes.LinkInvite])),
)  # fmt: skip
