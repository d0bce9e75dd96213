"""Operations on translations of spaces, and on the glossary of an organization.

Each translation has a space of its own as its result. A run is a job of the stand-in translator. The source
is the `parent` of the record, the result its `ref`. Creating a translation starts the first run.
"""

from typing import Any

from ... import answers
from ...clock import moment
from ...content.documents import empty_document, stored_document
from ...errors import bad, missing
from ...jobs.queue import KIND as JOB
from ...jobs.queue import Work, enqueue
from ...jobs.translator import Translated, translated, translated_content, words
from ...request.changes import same
from ...request.context import Context
from ...request.paging import list_page
from ...spaces import revisions
from ...store import Json, Record
from ..spaces.spaces import new_space

KIND = "translation"
RUN = "run-translation"
LONGEST_TITLE = 50
NO_RUNS = {
    "runs": 0, "totalWords": 0, "totalPages": 0, "totalDuration": 0,
    "latestRunDuration": 0, "latestPages": 0, "latestWords": 0,
}  # fmt: skip


def _translation(ctx: Context) -> Record:
    organization = ctx.organization()
    found = ctx.store.get(KIND, ctx.params["translationId"])
    if found is None or found.organization != organization.id:
        raise missing("translation", ctx.params["translationId"])
    return found


def create_translation(ctx: Context) -> Json:
    """Create a translation.

    Raise 400 for a second translation of the space into the same language, and for a translation into the
    language of the source.
    """
    organization, body = ctx.organization(), ctx.body
    source = ctx.named_space(body.source.space, organization.id, "body.source.space")
    language = body.source.language or source.doc.get("language")
    if language is None:
        raise bad("body.source.language: required, because the space has no language")
    if language == body.language:
        raise bad(f"body.language: {language!r} is already the language of the source")
    for other in ctx.store.find(KIND, organization=organization.id, parent=source.id):
        if other.doc["language"] == body.language:
            raise bad(f"body.language: {other.id!r} already translates this space into {body.language!r}")
    given = body.given().get("instructions")
    doc = {
        "status": "pending",
        "source": {"space": source.id, "language": language},
        "language": body.language,
        "instructions": empty_document() if given is None else stored_document(given),
        "stats": NO_RUNS,
        "createdAt": ctx.stamp,
        "updatedAt": ctx.stamp,
    }
    made = Record(KIND, ctx.new_id(KIND), doc, organization.id, organization.id, source.id)
    ctx.put(made)
    enqueue(ctx, made, RUN, space=ctx.new_id("space"))
    return answers.translation(ctx, made)


def update_translation(ctx: Context) -> Json:
    """Change the instructions for the next run, without starting a run."""
    found = _translation(ctx)
    instructions = stored_document(ctx.body.given()["instructions"])
    if not same(found.doc["instructions"], instructions):
        found.doc |= {"instructions": instructions, "updatedAt": ctx.stamp}
        ctx.put(found)
    return answers.translation(ctx, found)


# --- runs -------------------------------------------------------------------------------------------


def run_translation(ctx: Context) -> None:
    """Start a run unless one is waiting or running. Raise 404 if the source does not exist.

    The status changes to `running` at once, so that no later request sees the result of the previous run as
    current.
    """
    found = _translation(ctx)
    source = ctx.load("space", found.parent)
    if source is None or source.organization != found.organization:
        raise missing("the source of the translation: space", found.parent)
    if ctx.store.find(JOB, ref=found.id, organization=found.organization):
        return
    found.doc["status"] = "running"
    ctx.put(found)
    enqueue(ctx, found, RUN, space=ctx.new_id("space"))


async def run(work: Work) -> None:
    with work.step() as ctx:
        found = _subject(ctx, work.job)
        found.doc["status"] = "running"
        ctx.put(found)
        began = ctx.stamp
    with work.last_step() as ctx:
        found = _subject(ctx, work.job)
        source = ctx.load("space", found.parent)
        if source is not None and source.organization == found.organization:
            done = _translate(ctx, found, source, work.job.doc["space"])
            seconds = round((ctx.now - moment(began)).total_seconds())
            found.doc["stats"] = _counted(found.doc["stats"], done, max(seconds, 0))
        found.doc["status"] = "completed" if found.ref else "pending"
        found.doc["updatedAt"] = ctx.stamp
        ctx.put(found)


def _translate(ctx: Context, found: Record, source: Record, id: str) -> Translated:
    """Translate into the space of the previous run, or into a new space next to the source."""
    language = found.doc["language"]
    title = translated(source.doc["title"], language, LONGEST_TITLE)
    content = revisions.content_of(revisions.active(ctx.store, source))
    done = translated_content(content, language)
    fields = {"title": title, "language": language}
    result = ctx.load("space", found.ref) if found.ref else None
    if result is None or result.organization != found.organization:
        result = new_space(ctx, found.organization, source.parent, fields, id)
        found.ref = result.id
    else:
        result.doc |= {**fields, "updatedAt": ctx.stamp}
        ctx.put(result)
    _take(ctx, result, done.content)
    return Translated(done.content, words(source.doc["title"]) + done.words, done.pages)


def _take(ctx: Context, result: Record, content: Json) -> None:
    before = revisions.active(ctx.store, result)
    if revisions.content_of(before) != content:
        made = revisions.keep(ctx, result, content, [before.id], type="edits")
        revisions.activate(ctx, result, made)


def _counted(stats: Json, done: Translated, seconds: int) -> Json:
    return {
        "runs": stats["runs"] + 1,
        "totalWords": stats["totalWords"] + done.words,
        "totalPages": stats["totalPages"] + done.pages,
        "totalDuration": stats["totalDuration"] + seconds,
        "latestRunDuration": seconds,
        "latestPages": done.pages,
        "latestWords": done.words,
    }


def _subject(ctx: Context, job: Record) -> Record:
    found = ctx.store.get(KIND, job.ref)
    if found is None:
        raise LookupError(f"the object of the job {job.id} does not exist")
    return found


# --- the glossary: entries of one term in several languages ----------------------------------------

GLOSSARY_ENTRY = "glossary-entry"


def list_entries(ctx: Context) -> Json:
    organization, query = ctx.organization(), ctx.query

    def key(entry: Record) -> list[Any]:
        term = entry.doc["translations"].get(query.orderBy)
        return [term is None, (term or "").casefold(), entry.seq]

    found = sorted(ctx.store.find(GLOSSARY_ENTRY, organization=organization.id), key=key)
    return list_page(ctx, found, lambda entry: answers.glossary_entry(ctx, entry), key)


def get_entry(ctx: Context) -> Json:
    organization, id = ctx.organization(), ctx.params["glossaryEntryId"]
    found = ctx.store.get(GLOSSARY_ENTRY, id)
    if found is None or found.organization != organization.id:
        raise missing("glossary entry", id)
    return answers.glossary_entry(ctx, found)


def change_entries(ctx: Context) -> None:
    """Apply all operations in order, or none.

    An update replaces all terms of an entry. Deleting an entry that does not exist is not an error.
    """
    organization = ctx.organization()
    for index, operation in enumerate(ctx.body.given()["operations"]):
        if operation["type"] == "insert":
            doc = {"translations": operation["translations"], "createdAt": ctx.stamp, "updatedAt": ctx.stamp}
            ctx.put(Record(GLOSSARY_ENTRY, ctx.new_id(GLOSSARY_ENTRY), doc, organization.id, organization.id))
            continue
        found = ctx.store.get(GLOSSARY_ENTRY, operation["id"])
        entry = found if found is not None and found.organization == organization.id else None
        if operation["type"] == "update":
            if entry is None:
                raise missing(f"body.operations.{index}: glossary entry", operation["id"])
            if entry.doc["translations"] == operation["translations"]:
                continue
            entry.doc |= {"translations": operation["translations"], "updatedAt": ctx.stamp}
            ctx.put(entry)
        elif entry is not None:
            ctx.remove(entry)
