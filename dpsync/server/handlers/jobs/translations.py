"""Handle the API operations on translations of spaces and on the glossary, and translate in background jobs.

Each translation has a space of its own as its result. A job runs a stand-in translator
(`jobs/translator.py`), which does not really translate. In the record of a translation, the column `parent`
is the id of the source space and `ref` that of the resulting space. Creating a translation starts the first
run.
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
    """Return the translation that the path names. Raise 404 if it does not exist."""
    organization = ctx.organization_from_path()
    translation = ctx.store.get(TRANSLATION, ctx.params["translationId"])
    if translation is None or translation.organization != organization.id:
        raise not_found("translation", ctx.params["translationId"])
    return translation


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
    instructions = body.sent_fields().get("instructions")
    doc = {
        "status": "pending",
        "source": {"space": source.id, "language": language},
        "language": body.language,
        "instructions": empty_document() if instructions is None else stored_document(instructions),
        "stats": EMPTY_STATS,
        "createdAt": ctx.timestamp,
        "updatedAt": ctx.timestamp,
    }
    translation = Record(
        TRANSLATION, ctx.new_id(TRANSLATION), doc, organization.id, organization.id, source.id
    )
    ctx.put(translation)
    enqueue(ctx, translation, RUN_JOB, space=ctx.new_id("space"))
    return responses.translation(ctx, translation)


def update_translation(ctx: Context) -> Json:
    """Change the instructions for the next run, without starting a run."""
    translation = _require_translation(ctx)
    instructions = stored_document(ctx.body.sent_fields()["instructions"])
    if not is_same_json(translation.doc["instructions"], instructions):
        translation.doc |= {"instructions": instructions, "updatedAt": ctx.timestamp}
        ctx.put(translation)
    return responses.translation(ctx, translation)


# --- runs -------------------------------------------------------------------------------------------


def run_translation(ctx: Context) -> None:
    """Start a run unless one is waiting or running. Raise 404 if the source does not exist.

    The status changes to `running` at once, so that no later request sees the result of the previous run as
    current.
    """
    translation = _require_translation(ctx)
    source = ctx.load("space", translation.parent)
    if source is None or source.organization != translation.organization:
        raise not_found("the source of the translation: space", translation.parent)
    if ctx.store.find(JOB, ref=translation.id, organization=translation.organization):
        return
    translation.doc["status"] = "running"
    ctx.put(translation)
    enqueue(ctx, translation, RUN_JOB, space=ctx.new_id("space"))


async def run_translation_job(work: RunningJob) -> None:
    """Translate the source space, and update the status and the statistics of the translation.

    If the source space does not exist any more, only the status changes.
    """
    with work.step() as ctx:
        translation = _load_job_translation(ctx, work.job)
        translation.doc["status"] = "running"
        ctx.put(translation)
        started_at = ctx.timestamp
    with work.final_step() as ctx:
        translation = _load_job_translation(ctx, work.job)
        source = ctx.load("space", translation.parent)
        if source is not None and source.organization == translation.organization:
            translated = _translate_space(ctx, translation, source, work.job.doc["space"])
            seconds = round((ctx.now - parse_timestamp(started_at)).total_seconds())
            translation.doc["stats"] = _add_run_to_stats(
                translation.doc["stats"], translated, max(seconds, 0)
            )
        translation.doc["status"] = "completed" if translation.ref else "pending"
        translation.doc["updatedAt"] = ctx.timestamp
        ctx.put(translation)


def _translate_space(
    ctx: Context, translation: Record, source: Record, new_space_id: str
) -> TranslatedContent:
    """Translate the source space, and return the result with its counts.

    The result goes into the space of the previous run, or into a new space next to the source.
    """
    language = translation.doc["language"]
    title = translate_text(source.doc["title"], language, MAX_TITLE_LENGTH)
    content = revisions.revision_content(revisions.active_revision(ctx.store, source))
    translated = translate_content(content, language)
    fields = {"title": title, "language": language}
    result = ctx.load("space", translation.ref) if translation.ref else None
    if result is None or result.organization != translation.organization:
        result = add_space(ctx, translation.organization, source.parent, fields, new_space_id)
        translation.ref = result.id
    else:
        result.doc |= {**fields, "updatedAt": ctx.timestamp}
        ctx.put(result)
    before = revisions.active_revision(ctx.store, result)
    if revisions.revision_content(before) != translated.content:
        revision_id = revisions.add_revision(ctx, result, translated.content, [before.id], type="edits")
        revisions.activate_revision(ctx, result, revision_id)
    return TranslatedContent(
        translated.content, count_words(source.doc["title"]) + translated.word_count, translated.page_count
    )


def _add_run_to_stats(stats: Json, translated: TranslatedContent, seconds: int) -> Json:
    """Return the statistics of a translation after one more run."""
    return {
        "runs": stats["runs"] + 1,
        "totalWords": stats["totalWords"] + translated.word_count,
        "totalPages": stats["totalPages"] + translated.page_count,
        "totalDuration": stats["totalDuration"] + seconds,
        "latestRunDuration": seconds,
        "latestPages": translated.page_count,
        "latestWords": translated.word_count,
    }


def _load_job_translation(ctx: Context, job: Record) -> Record:
    """Return the translation that a job runs. Raise LookupError if it does not exist."""
    translation = ctx.store.get(TRANSLATION, job.ref)
    if translation is None:
        raise LookupError(f"the object of the job {job.id} does not exist")
    return translation


# --- the glossary: entries of one term in several languages ----------------------------------------

GLOSSARY_ENTRY = "glossary-entry"


def list_entries(ctx: Context) -> Json:
    """List the glossary entries, sorted by their term in one language. Entries without it come last."""
    organization, query = ctx.organization_from_path(), ctx.query

    def key(entry: Record) -> list[Any]:
        term = entry.doc["translations"].get(query.orderBy)
        return [term is None, (term or "").casefold(), entry.seq]

    entries = sorted(ctx.store.find(GLOSSARY_ENTRY, organization=organization.id), key=key)
    return list_page(ctx, entries, lambda entry: responses.glossary_entry(ctx, entry), key)


def get_entry(ctx: Context) -> Json:
    """Return the glossary entry that the path names. Raise 404 if it does not exist."""
    organization, id = ctx.organization_from_path(), ctx.params["glossaryEntryId"]
    entry = ctx.store.get(GLOSSARY_ENTRY, id)
    if entry is None or entry.organization != organization.id:
        raise not_found("glossary entry", id)
    return responses.glossary_entry(ctx, entry)


def change_entries(ctx: Context) -> None:
    """Apply all operations in order, or none.

    An update replaces all terms of an entry. Deleting an entry that does not exist is not an error. Raise 404
    for an update of an unknown entry.
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
        record = ctx.store.get(GLOSSARY_ENTRY, operation["id"])
        entry = record if record is not None and record.organization == organization.id else None
        if operation["type"] == "update":
            if entry is None:
                raise not_found(f"body.operations.{index}: glossary entry", operation["id"])
            if entry.doc["translations"] == operation["translations"]:
                continue
            entry.doc |= {"translations": operation["translations"], "updatedAt": ctx.timestamp}
            ctx.put(entry)
        elif entry is not None:
            ctx.remove(entry)
