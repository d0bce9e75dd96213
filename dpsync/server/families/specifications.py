"""OpenAPI specifications, translations and the glossary.

    openapi: [{id, slug, source: {url} or {text}, visibility, processingState, lastVersion…
               versions: [{id, createdAt, sourceURL, text}]}]
    glossary: [{id, translations: {LANGUAGE: term}}]
    translations: [{id, source: {space, language}, language, instructions, status, result, stats}]

After loading, the local server processes each specification that is not `complete` and runs each translation
that is `running`.
"""

from .. import answers
from ..content.documents import empty_document
from ..handlers.jobs import specifications, translations
from ..integrations.events import INTEGRATION, queue
from ..jobs.queue import KIND as JOB
from ..jobs.queue import job_on
from ..models.translations import Translation
from ..records.family import Dependency, Family, OrdinaryResource
from ..records.world_format import Dumping, Loading, WorldSection, but, listed
from ..store import Json, Record
from . import shapes


def _load_specs(loading: Loading, organization: Record, given: list[Json]) -> None:
    for spec in loading.each(given):
        _spec(loading, organization, spec)


def _spec(loading: Loading, organization: Record, given: Json) -> None:
    source = given.get("source") or {"url": given.get("sourceURL")}
    doc = {
        "visibility": "private",
        "createdAt": loading.then(),
        "updatedAt": loading.then(),
        "processingState": "pending",
        "sourceURL": source.get("url"),
        **but(given, "id", "slug", "source", "versions"),
    }
    id = loading.id(specifications.KIND, given)
    spec = loading.add(
        Record(specifications.KIND, id, doc, organization.id, organization.id, ref=given["slug"])
    )
    _versions(loading, spec, given.get("versions") or [])
    if doc["processingState"] != "complete":
        version = loading.free(specifications.VERSION)
        loading.add(job_on(spec, specifications.PROCESS, source=source, version=version))


def _versions(loading: Loading, spec: Record, given: list[Json]) -> None:
    """Load the versions of a specification. Add an empty record for a last version that is not listed."""
    named = [version["id"] for version in given]
    last = spec.doc.get("lastVersion")
    for version in [*given, *([{"id": last}] if last and last not in named else [])]:
        doc = {"createdAt": loading.then(), **but(version, "id")}
        loading.add(Record(specifications.VERSION, version["id"], doc, spec.organization, spec.id))


def _dump_specs(dumping: Dumping, organization: Record) -> list[Json]:
    return [
        _dump_spec(dumping, found)
        for found in dumping.created(specifications.KIND, organization=organization.id)
    ]


def _dump_spec(dumping: Dumping, found: Record) -> Json:
    """Return the entry of a specification. Its source is stored in the job that will process it."""
    made = {"id": found.id, "slug": found.ref, **found.doc}
    kept = dumping.created(specifications.VERSION, scope=found.id)
    if kept:
        made["versions"] = [{"id": version.id, **version.doc} for version in kept]
    if (job := _job(dumping, found)) is not None:
        made["source"] = job["source"]
    return made


def _load_translations(loading: Loading, organization: Record, given: list[Json]) -> None:
    for translation in loading.each(given):
        _translation(loading, organization, translation)


def _translation(loading: Loading, organization: Record, given: Json) -> None:
    doc = {
        "status": "pending",
        "instructions": empty_document(),
        "stats": translations.NO_RUNS,
        "createdAt": loading.then(),
        "updatedAt": loading.then(),
        **but(given, "id", "result"),
    }
    id, source = loading.id(translations.KIND, given), given["source"]["space"]
    for space in filter(None, (source, given.get("result"))):
        if space not in loading.titles and loading.get("deleted-space", space) is None:
            raise ValueError(f"the translation {id!r} names the unknown space {space!r}")
    made = Record(translations.KIND, id, doc, organization.id, organization.id, source)
    made.ref = given.get("result") or ""
    loading.add(made)
    if doc["status"] == "running":
        loading.add(job_on(made, translations.RUN, space=loading.free("space")))


def _dump_translations(dumping: Dumping, organization: Record) -> list[Json]:
    found = dumping.created(translations.KIND, organization=organization.id)
    return [_dump_translation(dumping, translation) for translation in found]


def _dump_translation(dumping: Dumping, found: Record) -> Json:
    made = {"id": found.id, **found.doc}
    if _job(dumping, found) is not None:
        made["status"] = "running"
    if found.ref:
        made["result"] = found.ref
    return made


def _job(dumping: Dumping, found: Record) -> Json | None:
    return next(
        (job.doc for job in dumping.store.find(JOB, ref=found.id, organization=found.organization)), None
    )


TRANSLATIONS = Family(
    translations.KIND, prefix="translation", owner="organization",
    world=WorldSection("translations", _load_translations, _dump_translations,
                       shape=list[shapes.Translation]),
    resource=OrdinaryResource("translation", "/translations", "translationId", answers.translation,
                              Translation),
)  # fmt: skip

FAMILIES = (
    Family(specifications.KIND, prefix="spec", owner="organization",
           world=WorldSection("openapi", _load_specs, _dump_specs, shape=list[shapes.Specification])),
    Family(specifications.VERSION, prefix="version", owner=specifications.KIND),
    Family(translations.GLOSSARY_ENTRY, prefix="term", owner="organization",
           world=listed(translations.GLOSSARY_ENTRY, "glossary", shape=list[shapes.GlossaryEntry],
                        times=("createdAt", "updatedAt"))),
    TRANSLATIONS,
    Family(JOB, depends_on=(Dependency(specifications.KIND), Dependency(translations.KIND),
                       Dependency(INTEGRATION, lambda integration: {"ref": queue(integration).id}))),
)  # fmt: skip
