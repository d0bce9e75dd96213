"""What is read of a content: revision, pages, files, and what a search of a space finds.

Each operation is there twice, under a space and under a change request: the path says which.
"""

from typing import Any

from ...answers import pages as answers
from ...content import evaluation, markdown
from ...content.editing import document_of
from ...content.rich_text import to_document
from ...content.searching import search, words_of
from ...content.tree import Page
from ...request.context import Context
from ...request.paging import numbered_page
from ...spaces.reading import ReadContent, of_change_request, of_space

Json = dict[str, Any]


def reading_of(ctx: Context) -> ReadContent:
    """The content that the path names."""
    options = {name: getattr(ctx.query, name, True) for name in ("metadata", "computed")}
    if "changeRequestId" in ctx.params:
        return of_change_request(ctx, ctx.change_request(), **options)
    return of_space(ctx, ctx.space(), **options)


def get_revision(ctx: Context) -> Json:
    return answers.revision(reading_of(ctx))


def list_pages(ctx: Context) -> Json:
    return {"pages": answers.pages(reading_of(ctx))}


def list_files(ctx: Context) -> Json:
    reading = reading_of(ctx)
    files: list[Json] = reading.content["files"]
    return numbered_page(ctx, files, lambda file: answers.file(reading, file), lambda file: str(file["id"]))


def get_file(ctx: Context) -> Json:
    reading = reading_of(ctx)
    return answers.file(reading, reading.file(ctx.params["fileId"]))


def get_page(ctx: Context) -> Json:
    """With those below it, whose texts are in the same form."""
    reading, query = reading_of(ctx), ctx.query
    found, above = reading.page(ctx.params["pageId"])
    answer = answers.page(reading, found, above)
    if (query.format, query.evaluated, query.dereferenced) != ("markdown", "false", "false"):
        _reshape(reading, found, answer)
    return answer


def _reshape(reading: ReadContent, found: Page, answer: Json) -> None:
    if "markdown" in answer:
        text = answer.pop("markdown")
        document = _read_out(reading, found, document_of(found) if "body" in found else to_document(text))
        if reading.ctx.query.format == "document":
            answer["document"] = answers.document(document)
        else:
            answer["markdown"] = markdown.to_markdown(document)
    for below, below_answer in zip(found["pages"], answer["pages"], strict=True):
        _reshape(reading, below, below_answer)


def _read_out(reading: ReadContent, found: Page, document: Json) -> Json:
    """References are followed first, so that expressions in reusable contents are evaluated too."""
    query = reading.ctx.query
    if query.dereferenced != "false":
        document = evaluation.with_reusable_contents(document, reading.content["reusableContents"])
    if query.dereferenced == "true":
        document = evaluation.with_addresses(document, lambda ref: answers.address(reading, found, ref))
    if query.evaluated != "false":
        variables = {"space": reading.content["variables"], "page": found.get("variables") or {}}
        document = evaluation.evaluated(document, variables, others=query.evaluated == "true")
    return document


def search_space(ctx: Context) -> Json:
    """Hits in titles before those in texts only, else in the order of the pages."""
    reading = of_space(ctx, ctx.space())
    hits = search(reading.content["pages"], words_of(ctx.query.query))
    return numbered_page(ctx, hits, lambda hit: answers.hit(reading, hit))
