"""Translations: a run makes a space, by the stand-in translator."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from companion_calls import START, Api
from covers import covers

from dpsync.server import world
from dpsync.server.jobs.translator import translate_text

ACME = "/orgs/acme"
LIST = f"{ACME}/translations"
FRENCH = f"{LIST}/guides-fr"
NO_RUNS = {
    "runs": 0, "totalWords": 0, "totalPages": 0, "totalDuration": 0,
    "latestRunDuration": 0, "latestPages": 0, "latestWords": 0,
}  # fmt: skip


def completed(api: Api, path: str) -> Any:
    api.server.wait_for_jobs()
    found = api.get(path)
    assert found["status"] == "completed"
    return found


def run(api: Api, path: str) -> Any:
    api.post(f"{path}/run", status=204)
    return completed(api, path)


def make(api: Api, space: str = "news", language: str = "de", **more: Any) -> Any:
    return api.make(LIST, {"source": {"space": space, "language": "en"}, "language": language, **more})


@covers("createTranslation", 201)
@covers("getTranslation", 200)
def test_new_translation_runs_and_creates_space(api: Api) -> None:
    made = make(api)
    assert (made["status"], made["stats"]) == ("pending", NO_RUNS)
    assert "result" not in made
    found = completed(api, f"{LIST}/{made['id']}")
    space = api.get(f"/spaces/{found['result']['space']}")
    assert (space["title"], space["language"], space["parent"]) == ("[de] News", "de", "product")
    assert found["result"]["revision"] == space["revision"]
    assert (found["stats"]["runs"], found["stats"]["totalWords"]) == (1, 1)
    assert api.ids("/collections/product/spaces")[-1] == space["id"]


def test_builtin_server_data_has_pending_and_completed_translation(api: Api) -> None:
    assert api.get(FRENCH)["status"] == "pending"
    assert "result" not in api.get(FRENCH)
    done = api.get("/orgs/globex/translations/safety-in-german")
    assert done["result"]["space"] in api.ids("/orgs/globex/spaces")


@covers("runTranslation", 204)
def test_second_translation_run_updates_same_space(api: Api) -> None:
    api.patch("/spaces/guides", {"title": "Our guides"})
    first = run(api, FRENCH)
    api.patch("/spaces/guides", {"title": "All our guides"})
    second = run(api, FRENCH)
    assert first["result"]["space"] == second["result"]["space"]
    assert api.get(f"/spaces/{first['result']['space']}")["title"] == "[fr] All our guides"
    before, stats = first["stats"], second["stats"]
    assert (stats["runs"], stats["latestWords"]) == (2, before["latestWords"] + 1)
    assert stats["totalWords"] == before["latestWords"] + stats["latestWords"]


def test_translated_pages_keep_ids_and_links(api: Api) -> None:
    found = run(api, FRENCH)
    result = f"/spaces/{found['result']['space']}"
    pages = api.get(f"{result}/content/pages")["pages"]
    assert [page["title"] for page in pages] == [
        "[fr] Welcome", "[fr] Getting started", "[fr] Search", "[fr] Status", "[fr] The API of the shop",
    ]  # fmt: skip
    steps = api.get(f"{result}/content/page/first-steps")
    assert steps["markdown"].startswith("## \\[fr\\] Install\n\n1. \\[fr\\] Download the installer.")
    assert "```sh\nacme-shop install --edition small\n```" in steps["markdown"]
    assert [page["id"] for page in pages[1]["pages"]] == ["first-steps", "payments"]
    assert (found["stats"]["latestPages"], found["stats"]["totalPages"]) == (7, 7)
    broken = api.items(f"{result}/content/page/welcome/links", status="broken")
    assert broken == []


def test_translation_run_without_changes_keeps_revision(api: Api) -> None:
    first, second = run(api, FRENCH), run(api, FRENCH)
    assert first["result"]["revision"] == second["result"]["revision"]


def test_translation_is_running_right_after_start(api: Api) -> None:
    """Whatever is answered after it, never what came of the run before."""
    before = run(api, FRENCH)
    api.clock.pass_by(seconds=1)
    after = run(api, FRENCH)
    assert after["stats"]["runs"] == before["stats"]["runs"] + 1
    assert after["updatedAt"] > before["updatedAt"]


def test_deleted_translation_result_is_recreated_by_next_run(api: Api) -> None:
    first = run(api, FRENCH)["result"]["space"]
    api.delete(f"/spaces/{first}")
    assert "result" not in api.get(FRENCH)
    assert run(api, FRENCH)["result"]["space"] != first


@covers("runTranslation", 204, 404)
def test_translation_run_without_source_space_is_refused(api: Api) -> None:
    api.delete("/spaces/guides")
    api.refused(404, "POST", f"{FRENCH}/run")
    assert api.get(FRENCH)["status"] == "pending"
    api.post("/spaces/guides/restore")
    assert run(api, FRENCH)["result"]


@covers("deleteTranslation", 204)
@covers("getTranslation", 404)
@covers("runTranslation", 404)
def test_deleting_translation_keeps_its_result_space(api: Api) -> None:
    space = run(api, FRENCH)["result"]["space"]
    api.delete(FRENCH)
    api.delete(FRENCH)
    api.refused(404, "GET", FRENCH)
    api.refused(404, "POST", f"{FRENCH}/run")
    assert api.get(f"/spaces/{space}")["title"] == "[fr] Guides"


@covers("updateTranslation", 200, 400, 404)
def test_translation_update_changes_instructions_only(api: Api) -> None:
    empty = api.get(FRENCH)["instructions"]
    assert (empty["object"], empty["nodes"]) == ("document", [])
    block = {"object": "block", "type": "paragraph", "nodes": []}
    document = {"object": "document", "data": {}, "nodes": [block]}
    body = {"instructions": document, "language": "de", "source": {"space": "news", "language": "de"}}
    changed = api.put(FRENCH, body)
    assert changed == api.get(FRENCH)
    assert changed["instructions"]["nodes"] == [{**block, "key": "n0"}]
    assert (changed["language"], changed["source"]["space"]) == ("fr", "guides")
    assert changed["status"] == "pending"
    api.refused(400, "PUT", FRENCH, {})
    api.refused(400, "PUT", FRENCH, {"instructions": {"markdown": "x", "nodes": 1}})
    api.refused(404, "PUT", f"{LIST}/none", {"instructions": document})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"source": {"space": "guides", "language": "en"}, "language": "fr"}, 400),
        ({"source": {"space": "guides", "language": "en"}, "language": "en"}, 400),
        ({"source": {"space": "archive"}, "language": "fr"}, 400),
        ({"source": {"space": "guides"}, "language": "xx"}, 400),
        ({"source": {"space": "guides"}}, 400),
        ({"language": "fr"}, 400),
        ({"source": {"space": "manual", "language": "en"}, "language": "fr"}, 404),
        ({"source": {"space": "none", "language": "en"}, "language": "fr"}, 404),
    ],
)
def test_invalid_translation_is_refused(api: Api, body: Any, status: int) -> None:
    api.refused(status, "POST", LIST, body)
    assert api.ids(LIST) == ["guides-fr"]


def test_translation_source_language_defaults_to_space_language(api: Api) -> None:
    made = api.make(LIST, {"source": {"space": "guides"}, "language": "ja"})
    assert made["source"] == {"space": "guides", "language": "en"}


@covers("listTranslations", 200)
def test_translations_are_listed_in_pages(api: Api) -> None:
    made = [make(api, language=language)["id"] for language in ("de", "ja")]
    assert api.ids(LIST, limit=1) == ["guides-fr", *made]


@covers("createTranslation", 201, 404)
def test_translation_of_invisible_space_is_refused(api: Api) -> None:
    api.patch(f"{ACME}/members/grace", {"role": "create"})
    api.patch("/spaces/archive", {"defaultLevel": None})
    body = {"source": {"space": "archive", "language": "en"}, "language": "de"}
    api.as_("grace-token").refused(404, "POST", LIST, body)
    assert api.make(LIST, body)["source"]["space"] == "archive"


@pytest.mark.parametrize(
    ("role", "reads", "writes"), [("create", 200, 204), ("edit", 200, 403), (None, 403, 403)]
)
def test_translation_access_depends_on_role(api: Api, role: str | None, reads: int, writes: int) -> None:
    api.patch(f"{ACME}/members/grace", {"role": role})
    grace = api.as_("grace-token")
    shown = grace.call("GET", FRENCH)
    assert shown.status_code == reads
    if reads == 200:
        assert shown.json()["permissions"] == {"view": True, "edit": writes == 204}
    assert grace.call("POST", f"{FRENCH}/run").status_code == writes


def test_same_requests_give_same_translated_space(api: Api, builtin_world: dict[str, Any]) -> None:
    def script() -> Any:
        api.server.reset(builtin_world)
        found = run(api, FRENCH)
        return found, api.get(f"/spaces/{found['result']['space']}")

    assert script() == script()


def test_exported_server_data_keeps_translation_runs(api: Api) -> None:
    made = run(api, FRENCH)
    invites = api.items(f"{ACME}/link-invites")
    providers = api.items(f"{ACME}/saml")
    api.server.reset(api.server.run_in_server(lambda: world.dump_world(api.app.store)))
    assert api.get(FRENCH) == made
    assert (api.items(f"{ACME}/link-invites"), api.items(f"{ACME}/saml")) == (invites, providers)
    dumped = api.server.run_in_server(lambda: world.dump_world(api.app.store))
    dumped["organizations"][0]["translations"][0]["status"] = "running"
    api.server.reset(dumped)
    assert completed(api, FRENCH)["stats"]["runs"] == 2


def test_simulated_translation_text_is_prefixed_and_truncated() -> None:
    assert translate_text("Guides", "pt-br", 50) == "[pt-br] Guides"
    assert translate_text("x" * 60, "fr", 50) == "[fr] " + "x" * 45


def test_translation_durations_are_whole_seconds(api: Api) -> None:
    """However long a run takes."""
    seconds = iter(range(1, 1000))

    def slow() -> datetime:
        return START + timedelta(seconds=next(seconds) * 0.7)

    before, api.app.clock = api.app.clock, slow
    try:
        made = api.make("/orgs/acme/translations", {"source": {"space": "guides"}, "language": "de"})
        api.server.wait_for_jobs()
        api.ok("POST", f"/orgs/acme/translations/{made['id']}/run", status=204)
        api.server.wait_for_jobs()
        stats = api.get(f"/orgs/acme/translations/{made['id']}")["stats"]
    finally:
        api.app.clock = before
    assert {type(value) for value in stats.values()} == {int}
    assert stats["runs"] == 2
    assert stats["totalDuration"] >= stats["latestRunDuration"] >= 1
