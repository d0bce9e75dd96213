"""Agent instructions, SAML providers and link invites."""

from ..documents import stored_document
from ..grants import INVITE
from ..handlers import saml
from ..store import Record, Store
from .loading import Json, Loading, Part, but, created


def _load_instructions(loading: Loading, organization: str, given: Json) -> None:
    """Last written by the first member."""
    first = next((record.ref for record in loading.records if record.scope == organization), "")
    kept = {"instructions": stored_document(given), "updatedAt": loading.then(), "updatedBy": first}
    loading.add(Record("agent-instructions", organization, kept, organization, organization))


def _dump_instructions(store: Store, organization: str) -> Json | None:
    kept = store.get("agent-instructions", organization)
    return kept.doc["instructions"] if kept else None


def _load_providers(loading: Loading, organization: str, given: list[Json]) -> None:
    for provider in given:
        doc = {"label": "Untitled", "createdAt": loading.then(), **but(provider, "id", "defaultTeam")}
        team = provider.get("defaultTeam") or ""
        id = loading.id(saml.KIND, provider)
        loading.add(Record(saml.KIND, id, doc, organization, organization, ref=team))


def _dump_providers(store: Store, organization: str) -> list[Json]:
    return [
        {"id": found.id, **found.doc, **({"defaultTeam": found.ref} if found.ref else {})}
        for found in created(store, saml.KIND, organization=organization)
    ]


def _load_invites(loading: Loading, organization: str, given: list[Json]) -> None:
    for invite in given:
        doc = {"createdAt": loading.then(), **but(invite, "id")}
        target = invite.get("space") or invite.get("collection") or ""
        id = loading.id(INVITE, invite)
        loading.add(Record(INVITE, id, doc, organization, organization, ref=target))


def _dump_invites(store: Store, organization: str) -> list[Json]:
    found = created(store, INVITE, organization=organization)
    return [{"id": invite.id, **invite.doc} for invite in found]


PARTS = (
    Part("agentInstructions", _load_instructions, _dump_instructions),
    Part("samlProviders", _load_providers, _dump_providers),
    Part("linkInvites", _load_invites, _dump_invites),
)
