"""Declare the records of OpenAPI specifications, of translations of spaces, and of the glossary.

Output: a `RecordKind` for each. The comment below shows the form in a world (the data that the local server
starts with). After loading, the local server processes each specification that is not `complete` and runs
each translation that is `running`.
"""

# openapi: [{id, slug, source: {url} or {text}, visibility, processingState, lastVersion…
#            versions: [{id, createdAt, sourceURL, text}]}]
# glossary: [{id, translations: {LANGUAGE: term}}]
# translations: [{id, source: {space, language}, language, instructions, status, result, stats}]

from .. import responses
from ..content.documents import empty_document
from ..handlers.jobs import specifications, translations
from ..integrations.events import INTEGRATION, queue_subject
from ..jobs.queue import JOB, make_job
from ..models.translations import Translation
from ..records.record_kind import CrudResource, Dependency, RecordKind
from ..records.world_sections import WorldDumper, WorldLoader, WorldSection, list_section, without_keys
from ..store import Json, Record
from . import world_models


def _load_specs(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the OpenAPI specifications of an organization from a world file (the server's initial data)."""
    for spec in loader.each_entry(entries):
        _load_spec(loader, organization, spec)


def _load_spec(loader: WorldLoader, organization: Record, entry: Json) -> None:
    """Load a specification with its versions, and a job for it if its processing is not complete."""
    source = entry.get("source") or {"url": entry.get("sourceURL")}
    doc = {
        "visibility": "private",
        "createdAt": loader.next_timestamp(),
        "updatedAt": loader.next_timestamp(),
        "processingState": "pending",
        "sourceURL": source.get("url"),
        **without_keys(entry, "id", "slug", "source", "versions"),
    }
    id = loader.entry_id(specifications.SPECIFICATION, entry)
    spec = loader.add(
        Record(specifications.SPECIFICATION, id, doc, organization.id, organization.id, ref=entry["slug"])
    )
    _load_versions(loader, spec, entry.get("versions") or [])
    if doc["processingState"] != "complete":
        version = loader.unused_id(specifications.SPECIFICATION_VERSION)
        loader.add(make_job(spec, specifications.PROCESS_JOB, source=source, version=version))


def _load_versions(loader: WorldLoader, spec: Record, entries: list[Json]) -> None:
    """Load the versions of a specification. Add an empty record for a last version that is not listed."""
    listed_ids = [version["id"] for version in entries]
    last_version = spec.doc.get("lastVersion")
    for version in [
        *entries,
        *([{"id": last_version}] if last_version and last_version not in listed_ids else []),
    ]:
        doc = {"createdAt": loader.next_timestamp(), **without_keys(version, "id")}
        loader.add(
            Record(specifications.SPECIFICATION_VERSION, version["id"], doc, spec.organization, spec.id)
        )


def _dump_specs(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the OpenAPI specifications of an organization as a world file (initial server data) has them."""
    return [
        _dump_spec(dumper, spec)
        for spec in dumper.find_by_creation(specifications.SPECIFICATION, organization=organization.id)
    ]


def _dump_spec(dumper: WorldDumper, spec: Record) -> Json:
    """Return the entry of a specification. Its source is stored in the job that will process it."""
    entry = {"id": spec.id, "slug": spec.ref, **spec.doc}
    versions = dumper.find_by_creation(specifications.SPECIFICATION_VERSION, scope=spec.id)
    if versions:
        entry["versions"] = [{"id": version.id, **version.doc} for version in versions]
    if (job := _find_job(dumper, spec)) is not None:
        entry["source"] = job["source"]
    return entry


def _load_translations(loader: WorldLoader, organization: Record, entries: list[Json]) -> None:
    """Load the translations of an organization from a world file (the server's initial data)."""
    for translation in loader.each_entry(entries):
        _load_translation(loader, organization, translation)


def _load_translation(loader: WorldLoader, organization: Record, entry: Json) -> None:
    """Load a translation, and a job for it if it is running. Raise ValueError for an unknown space."""
    doc = {
        "status": "pending",
        "instructions": empty_document(),
        "stats": translations.EMPTY_STATS,
        "createdAt": loader.next_timestamp(),
        "updatedAt": loader.next_timestamp(),
        **without_keys(entry, "id", "result"),
    }
    id, source = loader.entry_id(translations.TRANSLATION, entry), entry["source"]["space"]
    for space in filter(None, (source, entry.get("result"))):
        if space not in loader.space_titles and loader.get("deleted-space", space) is None:
            raise ValueError(f"the translation {id!r} names the unknown space {space!r}")
    translation = Record(translations.TRANSLATION, id, doc, organization.id, organization.id, source)
    translation.ref = entry.get("result") or ""
    loader.add(translation)
    if doc["status"] == "running":
        loader.add(make_job(translation, translations.RUN_JOB, space=loader.unused_id("space")))


def _dump_translations(dumper: WorldDumper, organization: Record) -> list[Json]:
    """Return the translations of an organization as entries of a world file (the server's initial data)."""
    records = dumper.find_by_creation(translations.TRANSLATION, organization=organization.id)
    return [_dump_translation(dumper, translation) for translation in records]


def _dump_translation(dumper: WorldDumper, record: Record) -> Json:
    """Return the entry of a translation. It is `running` if a job for it waits."""
    entry = {"id": record.id, **record.doc}
    if _find_job(dumper, record) is not None:
        entry["status"] = "running"
    if record.ref:
        entry["result"] = record.ref
    return entry


def _find_job(dumper: WorldDumper, record: Record) -> Json | None:
    """Return the document of the job on a specification or translation, or None."""
    return next(
        (job.doc for job in dumper.store.find(JOB, ref=record.id, organization=record.organization)), None
    )


TRANSLATIONS = RecordKind(
    translations.TRANSLATION, id_prefix="translation", owner="organization",
    world_section=WorldSection("translations", _load_translations, _dump_translations,
                               value_type=list[world_models.Translation]),
    crud=CrudResource("translation", "/translations", "translationId", responses.translation,
                      Translation),
)  # fmt: skip

RECORD_KINDS = (
    RecordKind(specifications.SPECIFICATION, id_prefix="spec", owner="organization",
               world_section=WorldSection("openapi", _load_specs, _dump_specs,
                                          value_type=list[world_models.Specification])),
    RecordKind(specifications.SPECIFICATION_VERSION, id_prefix="version", owner=specifications.SPECIFICATION),
    RecordKind(translations.GLOSSARY_ENTRY, id_prefix="term", owner="organization",
               world_section=list_section(translations.GLOSSARY_ENTRY, "glossary",
                                          value_type=list[world_models.GlossaryEntry],
                                          timestamp_fields=("createdAt", "updatedAt"))),
    TRANSLATIONS,
    RecordKind(JOB, depends_on=(Dependency(specifications.SPECIFICATION),
                                Dependency(translations.TRANSLATION),
                                Dependency(INTEGRATION,
                                           lambda integration: {"ref": queue_subject(integration).id}))),
)  # fmt: skip
