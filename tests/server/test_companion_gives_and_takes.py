"""Law: what the companion gives, it takes. The body of a reading can be written back, and nothing changes.

Things outlive what they name: merge rules a member who left, a redirect the page that it leads to, a
setting the version of the integration that declared it. A value that a thing has is always accepted; a new
one must hold.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from companion_calls import Api
from given_back import body_of, read, things, written
from world_walk import Walk

from dpsync.server.operations import OPERATIONS
from dpsync.server.request.operation import Operation
from tests.soak import examples

WORLDS = examples(2, soak=60)
"""How many histories are drawn."""
CALLERS = ("ada-token", "hank-token", "rui-token", "homer-token")
"""An admin of both organizations, one of Globex, and two members who may write some of it."""
CALLING = ("/members/ada", "/members/hank", "/members/rui", "/members/homer")
DOCS = "/orgs/acme/sites/docs"
RULES = {
    "type": "rules",
    "rules": [
        {"rule": "require_one_of_specific_reviewers", "users": ["lin", "rui", "eve"]},
        {"rule": "allow_bypass", "users": ["ada", "kim"]},
    ],
}
PROCESSES = "createOrUpdateOpenAPISpecBySlug"
PROCESSED = ("processingState", "lastVersion", "lastProcess", "updatedAt")


def make_references(api: Api) -> None:
    """Everything that can name something which may go."""
    for path in ("/orgs/acme", "/spaces/guides", "/spaces/support", "/spaces/archive", "/spaces/handbook"):
        api.patch(path, {"mergeRules": RULES})
    for source, destination in {
        "/page": {"kind": "site-page", "siteSpaceId": "docs-guides-en", "pageId": "search"},
        "/section": {"kind": "site-section", "siteSectionId": "docs-news"},
        "/place": {"kind": "site-space", "siteSpaceId": "docs-api-changelog"},
    }.items():
        api.make(f"{DOCS}/redirects", {"source": source, "destination": destination})
    api.patch(f"{DOCS}/site-spaces/docs-guides-en", {"pageId": "search"})
    api.patch("/spaces/changelog", {"defaultLevel": None})
    link = {"title": "Guides", "to": {"kind": "page", "page": "search", "space": "guides"}}
    api.put(f"{DOCS}/customization", {**api.get(f"{DOCS}/customization"), "header": {"links": [link]}})
    api.patch(f"{DOCS}/site-spaces/docs-news-latest/customization", {"header": {"links": [link]}})
    api.make(f"{DOCS}/external-links", {"title": "Status", "url": "https://s.example", "parent": "docs-more"})
    api.patch("/orgs/acme/sites/help", {"proxy": "acme.example/docs"})
    for item in ("/spaces/support", "/collections/product", DOCS):
        api.ok("POST", f"{item}/permissions", {"users": ["lin"], "teams": ["sales"], "role": "edit"}, 204)


def remove_pages(api: Api) -> None:
    api.patch("/spaces/guides", {"mergeRules": {"type": "none"}})
    request = api.make("/spaces/guides/change-requests", {"subject": "Less"})
    at = f"/spaces/guides/change-requests/{request['id']}"
    api.post(f"{at}/content", {"changes": [{"operation": "delete_page", "page": "search"}]})
    api.post(f"{at}/merge")
    api.patch("/spaces/guides", {"mergeRules": RULES})


def republish(api: Api) -> None:
    """Publish a newer version whose settings have other types than those of the older one."""
    numbers = {"properties": {name: {"type": "number"} for name in ("server", "region", "label")}}
    newer = {"title": "Acme tools", "configurations": {"account": numbers, "space": numbers}}
    api.post("/integrations/acme-tools", newer)


def let_go(api: Api, random: Random) -> None:
    """Delete a part of all deletable objects in any order; transfer and restore some spaces."""
    walk = Walk(api, "full")
    every = [path for row in OPERATIONS if row.method == "DELETE" for path in walk.paths(row.path)]
    gone = [path for path in every if not (path.startswith("/orgs/") and path.endswith(CALLING))]
    for path in random.sample(gone, len(gone) // 5):
        space = path.startswith("/spaces/") and path.count("/") == 2
        if space and random.random() < 0.5:
            api.call("POST", f"{path}/transfer", {"organization": "globex"})
        else:
            api.call("DELETE", path)
            if space and random.random() < 0.5:
                api.call("POST", f"{path}/restore")


def lived(api: Api, seed: int) -> None:
    """Give the world a history of created, removed, published and deleted objects."""
    make_references(api)
    remove_pages(api)
    republish(api)
    api.delete("/orgs/acme/members/lin")
    let_go(api, Random(seed))
    api.server.wait_for_jobs()


def refusals(api: Api, profile: str) -> Iterator[str]:
    """Yield each answered body that cannot be written back unchanged. Status 403 is exempt."""
    for row, path, thing in things(api, profile):
        body = body_of(row, thing)
        answer = api.call(row.method, path, body) if body else None
        if answer is not None and answer.status_code != 403:
            after = read(api, row, path)
            if not answer.is_success:
                yield f"{row.method} {path} {body}: {answer.status_code} {answer.text}"
            elif unprocessed(row, after) != unprocessed(row, thing):
                yield f"{row.method} {path} {body} changed {thing} into {after}"


def unprocessed(row: Operation, thing: Any) -> Any:
    """Return the thing without the results of processing, because each write of a source starts it again."""
    if row.id != PROCESSES:
        return thing
    return {name: value for name, value in thing.items() if not name.startswith(PROCESSED)}


@pytest.mark.parametrize("seed", range(WORLDS))
def test_sending_read_responses_back_as_writes_changes_nothing(api: Api, reference: Api, seed: int) -> None:
    lived(api, seed)
    reference.server.reset(api.state())
    found = [refused for token in CALLERS for refused in refusals(api.as_(token), "full")]
    found += refusals(reference, "reference")
    assert found == []


def test_write_back_test_includes_every_write_operation(api: Api) -> None:
    make_references(api)
    seen = {row.id for row, _, _ in things(api)}
    assert seen == {row.id for row in written()}
