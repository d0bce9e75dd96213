"""OpenAPI specifications and translations, whose work goes on after loading, and the glossary.

A specification that is not said to be complete is processed, a translation that is said to be running is run;
one that is pending waits until it is run.
"""

from ..documents import empty_document
from ..handlers import glossary, openapi, translations
from ..jobs import KIND as JOB
from ..jobs import job_on
from ..store import Record, Store
from .loading import Json, Loading, Part, but, created


def _load_specs(loading: Loading, organization: str, given: list[Json]) -> None:
    for spec in given:
        _spec(loading, organization, spec)


def _spec(loading: Loading, organization: str, given: Json) -> None:
    source = given.get("source") or {"url": given.get("sourceURL")}
    doc = {
        "visibility": "private",
        "createdAt": loading.then(),
        "updatedAt": loading.then(),
        "processingState": "pending",
        "sourceURL": source.get("url"),
        **but(given, "id", "slug", "source", "versions"),
    }
    id = loading.id(openapi.KIND, given)
    spec = loading.add(Record(openapi.KIND, id, doc, organization, organization, ref=given["slug"]))
    _versions(loading, spec, given.get("versions") or [])
    if doc["processingState"] != "complete":
        version = loading.free(openapi.VERSION, "version")
        loading.add(job_on(spec, openapi.PROCESS, source=source, version=version))


def _versions(loading: Loading, spec: Record, given: list[Json]) -> None:
    """Nothing is kept of the last one when it is not among those given."""
    named = [version["id"] for version in given]
    last = spec.doc.get("lastVersion")
    for version in [*given, *([{"id": last}] if last and last not in named else [])]:
        doc = {"createdAt": loading.then(), **but(version, "id")}
        loading.add(Record(openapi.VERSION, version["id"], doc, spec.organization, spec.id))


def _dump_specs(store: Store, organization: str) -> list[Json]:
    return [_dump_spec(store, found) for found in created(store, openapi.KIND, organization=organization)]


def _dump_spec(store: Store, found: Record) -> Json:
    """The source is with the work that is still to be done on it."""
    made = {"id": found.id, "slug": found.ref, **found.doc}
    kept = created(store, openapi.VERSION, scope=found.id)
    if kept:
        made["versions"] = [{"id": version.id, **version.doc} for version in kept]
    if (job := _job(store, found)) is not None:
        made["source"] = job["source"]
    return made


def _load_translations(loading: Loading, organization: str, given: list[Json]) -> None:
    for translation in given:
        _translation(loading, organization, translation)


def _translation(loading: Loading, organization: str, given: Json) -> None:
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
        if space not in loading.titles and ("deleted-space", space) not in loading.taken:
            raise ValueError(f"the translation {id!r} names the unknown space {space!r}")
    made = Record(
        translations.KIND, id, doc, organization, organization, source, ref=given.get("result") or ""
    )
    loading.add(made)
    if doc["status"] == "running":
        loading.add(job_on(made, translations.RUN, space=loading.free("space", "space")))


def _dump_translations(store: Store, organization: str) -> list[Json]:
    found = created(store, translations.KIND, organization=organization)
    return [_dump_translation(store, translation) for translation in found]


def _dump_translation(store: Store, found: Record) -> Json:
    made = {"id": found.id, **found.doc}
    if _job(store, found) is not None:
        made["status"] = "running"
    if found.ref:
        made["result"] = found.ref
    return made


def _job(store: Store, found: Record) -> Json | None:
    return next((job.doc for job in store.find(JOB, ref=found.id, organization=found.organization)), None)


def _load_glossary(loading: Loading, organization: str, given: list[Json]) -> None:
    for entry in given:
        id, doc = loading.id(glossary.KIND, entry), but(entry, "id")
        loading.add(Record(glossary.KIND, id, doc, organization, organization))


def _dump_glossary(store: Store, organization: str) -> list[Json]:
    return [
        {"id": found.id, **found.doc} for found in created(store, glossary.KIND, organization=organization)
    ]


PARTS = (
    Part("openapi", _load_specs, _dump_specs),
    Part("glossary", _load_glossary, _dump_glossary),
    Part("translations", _load_translations, _dump_translations),
)
