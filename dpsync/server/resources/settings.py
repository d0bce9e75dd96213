"""Declare the records of an organization's agent instructions, SAML providers and link invites.

Output: a `RecordKind` for each. In a world (the data that the local server starts with):

agentInstructions: {…}                                          # a document
samlProviders: [{id, label, entityID, certificate, ssoURL, defaultTeam, defaultRole}]
linkInvites: [{id, role, createdBy}]                            # or level with space or collection
"""

from .. import responses
from ..content.documents import stored_document
from ..handlers.people.joining import SAML_PROVIDER, apply_saml_body, initialize_saml_provider
from ..models import joining as models
from ..models.base import RichTextDocument
from ..records.grants import INVITE
from ..records.record_kind import CrudResource, Dependency, RecordKind, clear_column
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, list_section, without_keys
from ..store import Json, Record
from . import world_models


def _load_instructions(loader: WorldLoader, organization: Record, document: Json) -> None:
    """Load the agent instructions. The first member of the organization counts as the last author."""
    first_member = next((record.ref for record in loader.records if record.scope == organization.id), "")
    doc = {
        "instructions": stored_document(document),
        "updatedAt": loader.next_timestamp(),
        "updatedBy": first_member,
    }
    loader.add(Record("agent-instructions", organization.id, doc, organization.id, organization.id))


def _dump_instructions(dumper: WorldDumper, organization: Record) -> Json | None:
    """Return the agent instructions as a world file (the server's initial data) has them.

    None if nobody has written any.
    """
    record = dumper.store.get("agent-instructions", organization.id)
    return record.doc["instructions"] if record else None


def _load_invites(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load link invites from a world file (the server's initial data).

    The `ref` of an invite is its space or collection, "" for the organization.
    """
    for invite in loader.each_entry(entries):
        doc = {"createdAt": loader.next_timestamp(), **without_keys(invite, "id")}
        target = invite.get("space") or invite.get("collection") or ""
        id = loader.entry_id(INVITE, invite)
        loader.add(Record(INVITE, id, doc, organization.id, organization.id, ref=target))


def _dump_invites(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the link invites of an organization as entries of a world file (the server's initial data)."""
    invites = dumper.find_by_creation(INVITE, organization=organization.id)
    return [{"id": invite.id, **invite.doc} for invite in invites]


def _is_invite_to(invite: Record, target: Record) -> bool:
    """Return whether an invite that names this id leads to an object of this kind."""
    return target.kind.removeprefix("deleted-") in invite.doc


SAML_PROVIDERS = RecordKind(
    SAML_PROVIDER, id_prefix="saml", owner="organization",
    depends_on=(Dependency("team", on_delete=clear_column("ref")),),
    world_section=list_section(SAML_PROVIDER, "samlProviders", value_type=list[world_models.SamlProvider],
                               ref_field="defaultTeam",
                               label="Untitled", timestamp_fields=("createdAt",)),
    crud=CrudResource("SAML provider", "/saml", "samlProviderId", responses.saml_provider,
                      models.SamlProvider, models.SamlProviderCreate, models.SamlProviderUpdate,
                      initialize_saml_provider, apply_saml_body),
)  # fmt: skip

RECORD_KINDS = (
    RecordKind("agent-instructions", owner="organization",
               world_section=WorldSection("agentInstructions", _load_instructions, _dump_instructions,
                                          value_type=RichTextDocument)),
    SAML_PROVIDERS,
    RecordKind(INVITE, id_prefix="invite", owner="organization",
               depends_on=(Dependency("collection", is_dependent=_is_invite_to),
                           Dependency("space", is_dependent=_is_invite_to, until_erased=True)),
               world_section=WorldSection("linkInvites", _load_invites, _dump_invites,
                                          value_type=list[world_models.LinkInvite])),
)  # fmt: skip
