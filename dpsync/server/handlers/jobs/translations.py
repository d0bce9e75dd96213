"""Operations on translations of spaces, and on the glossary of an organization.

Each translation has a space of its own as its result. A run is a job of the stand-in translator. The source
is the `parent` of the record, the result its `ref`. Creating a translation starts the first run.
"""

from typing import Any

from ... import responses
from ...clock import parse_timestamp
from ...content.documents import empty_document, stored_document
from ...errors import bad_request, not_found
from ...jobs.queue import JOB, RunningJob, enqueue
from ...jobs.translator import TranslatedContent, count_words, translate_content, translate_text
from ...request.changes import is_same_json
from ...request.context import Context
from ...request.paging import list_page
from ...spaces import revisions
from ...store import Json, Record
from ..spaces.spaces import add_space

TRANSLATION = "translation"
RUN_JOB = "run-translation"
MAX_TITLE_LENGTH = 50
EMPTY_STATS = {
    "runs": 0, "totalWords": 0, "totalPages": 0, "totalDuration": 0,
    "latestRunDuration": 0, "latestPages": 0, "latestWords": 0,
}  # fmt: skip


def _require_translation(ctx: Context) -> Record:
    organization = ctx.organization_from_path()
    found = ctx.store.get(TRANSLATION, ctx.params["translationId"])
    if found is None or found.organization != organization.id:
        raise not_found("translation", ctx.params["translationId"])
    return found


def create_translation(ctx: Context) -> Json:
    """Create a translation.

    Raise 400 for a second translation of the space into the same language, and for a translation into the
    language of the source.
    """
    organization, body = ctx.organization_from_path(), ctx.body
    source = ctx.space_from_body(body.source.space, organization.id, "body.source.space")
    language = body.source.language or source.doc.get("language")
    if language is None:
        raise bad_request("body.source.language: required, because the space has no language")
    if language == body.language:
        raise bad_request(f"body.language: {language!r} is already the language of the source")
    for other in ctx.store.find(TRANSLATION, organization=organization.id, parent=source.id):
        if other.doc["language"] == body.language:
            raise bad_request(
                f"body.language: {other.id!r} already translates this space into {body.language!r}"
            )
    given = body.sent_fields().get("instructions")
    doc = {
        "status": "pending",
        "source": {"space": source.id, "language": language},
        "language": body.language,
        "instructions": empty_document() if given is None else stored_document(given),
        "stats": EMPTY_STATS,
        "createdAt": ctx.timestamp,
        "updatedAt": ctx.timestamp,
    }
    made = Record(TRANSLATION, ctx.new_id(TRANSLATION), doc, organization.id, organization.id, source.id)
    ctx.put(made)
    enqueue(ctx, made, RUN_JOB, space=ctx.new_id("space"))
    return responses.translation(ctx, made)


def update_translation(ctx: Context) -> Json:
    """Change the instructions for the next run, without starting a run."""
    found = _require_translation(ctx)
    instructions = stored_document(ctx.body.sent_fields()["instructions"])
    if not is_same_json(found.doc["instructions"], instructions):
        found.doc |= {"instructions": instructions, "updatedAt": ctx.timestamp}
        ctx.put(found)
    return responses.translation(ctx, found)


# --- runs -------------------------------------------------------------------------------------------


def run_translation(ctx: Context) -> None:
    """Start a run unless one is waiting or running. Raise 404 if the source does not exist.

    The status changes to `running` at once, so that no later request sees the result of the previous run as
    current.
    """
    found = _require_translation(ctx)
    source = ctx.load("space", found.parent)
    if source is None or source.organization != found.organization:
        raise not_found("the source of the translation: space", found.parent)
    if ctx.store.find(JOB, ref=found.id, organization=found.organization):
        return
    found.doc["status"] = "running"
    ctx.put(found)
    enqueue(ctx, found, RUN_JOB, space=ctx.new_id("space"))


async def run_translation_job(work: RunningJob) -> None:
    with work.step() as ctx:
        found = _load_job_translation(ctx, work.job)
        found.doc["status"] = "running"
        ctx.put(found)
        began = ctx.timestamp
    with work.final_step() as ctx:
        found = _load_job_translation(ctx, work.job)
        source = ctx.load("space", found.parent)
        if source is not None and source.organization == found.organization:
            done = _translate_space(ctx, found, source, work.job.doc["space"])
            seconds = round((ctx.now - parse_timestamp(began)).total_seconds())
            found.doc["stats"] = _add_run_to_stats(found.doc["stats"], done, max(seconds, 0))
        found.doc["status"] = "completed" if found.ref else "pending"
        found.doc["updatedAt"] = ctx.timestamp
        ctx.put(found)


def _translate_space(ctx: Context, found: Record, source: Record, id: str) -> TranslatedContent:
    """Translate into the space of the previous run, or into a new space next to the source."""
    language = found.doc["language"]
    title = translate_text(source.doc["title"], language, MAX_TITLE_LENGTH)
    content = revisions.revision_content(revisions.active_revision(ctx.store, source))
    done = translate_content(content, language)
    fields = {"title": title, "language": language}
    result = ctx.load("space", found.ref) if found.ref else None
    if result is None or result.organization != found.organization:
        result = add_space(ctx, found.organization, source.parent, fields, id)
        found.ref = result.id
    else:
        result.doc |= {**fields, "updatedAt": ctx.timestamp}
        ctx.put(result)
    _save_result(ctx, result, done.content)
    return TranslatedContent(
        done.content, count_words(source.doc["title"]) + done.word_count, done.page_count
    )


def _save_result(ctx: Context, result: Record, content: Json) -> None:
    before = revisions.active_revision(ctx.store, result)
    if revisions.revision_content(before) != content:
        made = revisions.add_revision(ctx, result, content, [before.id], type="edits")
        revisions.activate_revision(ctx, result, made)


def _add_run_to_stats(stats: Json, done: TranslatedContent, seconds: int) -> Json:
    return {
        "runs": stats["runs"] + 1,
        "totalWords": stats["totalWords"] + done.word_count,
        "totalPages": stats["totalPages"] + done.page_count,
        "totalDuration": stats["totalDuration"] + seconds,
        "latestRunDuration": seconds,
        "latestPages": done.page_count,
        "latestWords": done.word_count,
    }


def _load_job_translation(ctx: Context, job: Record) -> Record:
    found = ctx.store.get(TRANSLATION, job.ref)
    if found is None:
        raise LookupError(f"the object of the job {job.id} does not exist")
    return found


# --- the glossary: entries of one term in several languages ----------------------------------------

GLOSSARY_ENTRY = "glossary-entry"


def list_entries(ctx: Context) -> Json:
    organization, query = ctx.organization_from_path(), ctx.query

    def key(entry: Record) -> list[Any]:
        term = entry.doc["translations"].get(query.orderBy)
        return [term is None, (term or "").casefold(), entry.seq]

    found = sorted(ctx.store.find(GLOSSARY_ENTRY, organization=organization.id), key=key)
    return list_page(ctx, found, lambda entry: responses.glossary_entry(ctx, entry), key)


def get_entry(ctx: Context) -> Json:
    organization, id = ctx.organization_from_path(), ctx.params["glossaryEntryId"]
    found = ctx.store.get(GLOSSARY_ENTRY, id)
    if found is None or found.organization != organization.id:
        raise not_found("glossary entry", id)
    return responses.glossary_entry(ctx, found)


def change_entries(ctx: Context) -> None:
    """Apply all operations in order, or none.

    An update replaces all terms of an entry. Deleting an entry that does not exist is not an error.
    """
    organization = ctx.organization_from_path()
    for index, operation in enumerate(ctx.body.sent_fields()["operations"]):
        if operation["type"] == "insert":
            doc = {
                "translations": operation["translations"],
                "createdAt": ctx.timestamp,
                "updatedAt": ctx.timestamp,
            }
            ctx.put(Record(GLOSSARY_ENTRY, ctx.new_id(GLOSSARY_ENTRY), doc, organization.id, organization.id))
            continue
        found = ctx.store.get(GLOSSARY_ENTRY, operation["id"])
        entry = found if found is not None and found.organization == organization.id else None
        if operation["type"] == "update":
            if entry is None:
                raise not_found(f"body.operations.{index}: glossary entry", operation["id"])
            if entry.doc["translations"] == operation["translations"]:
                continue
            entry.doc |= {"translations": operation["translations"], "updatedAt": ctx.timestamp}
            ctx.put(entry)
        elif entry is not None:
            ctx.remove(entry)
