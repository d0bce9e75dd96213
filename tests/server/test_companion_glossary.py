"""The glossary of an organization."""

from typing import Any

import pytest
from companion_calls import Api
from covers import covers

GLOSSARY = "/orgs/globex/translations-glossary"


def change(api: Api, *operations: Any) -> None:
    api.ok("PUT", GLOSSARY, {"operations": list(operations)}, 204)


@covers("listTranslationsGlossary", 200)
@covers("getTranslationsGlossaryEntry", 200)
@covers("updateTranslationsGlossary", 204)
def test_glossary_entries_can_be_changed(api: Api) -> None:
    change(
        api,
        {"type": "insert", "translations": {"en": "alarm", "de": "Alarm"}},
        {"type": "update", "id": "rod", "translations": {"en": "rod"}},
        {"type": "delete", "id": "core"},
        {"type": "delete", "id": "none"},
    )
    rod, alarm = api.items(GLOSSARY)
    assert (rod["object"], rod["id"], rod["translations"]) == ("glossary-entry", "rod", {"en": "rod"})
    assert api.get(f"{GLOSSARY}/rod") == rod
    assert alarm["translations"] == {"en": "alarm", "de": "Alarm"}


@covers("listTranslationsGlossary", 200, 400)
def test_glossary_is_sorted_by_terms_of_language(api: Api) -> None:
    change(api, {"type": "insert", "translations": {"en": "Alarm"}})

    def terms(**query: Any) -> list[str]:
        return [entry["translations"]["en"] for entry in api.items(GLOSSARY, limit=1, **query)]

    assert terms() == ["core", "control rod", "Alarm"]
    assert terms(orderBy="en") == ["Alarm", "control rod", "core"]
    assert terms(orderBy="fr") == ["control rod", "core", "Alarm"]
    api.refused(400, "GET", GLOSSARY, params={"orderBy": "klingon"})


@covers("updateTranslationsGlossary", 404)
def test_failed_glossary_operation_undoes_whole_update(api: Api) -> None:
    before = api.items(GLOSSARY)
    operations = [
        {"type": "delete", "id": "core"},
        {"type": "update", "id": "none", "translations": {"en": "x"}},
    ]
    assert "operations.1" in api.refused(404, "PUT", GLOSSARY, {"operations": operations})
    assert api.items(GLOSSARY) == before


@covers("updateTranslationsGlossary", 400)
@pytest.mark.parametrize("terms", [{}, {"klingon": "x"}, {"en": ""}, {"en": "two\nlines"}, {"en": "x" * 256}])
def test_invalid_glossary_term_is_refused(api: Api, terms: Any) -> None:
    api.refused(400, "PUT", GLOSSARY, {"operations": [{"type": "insert", "translations": terms}]})


def test_glossary_is_scoped_to_organization(api: Api) -> None:
    assert api.items("/orgs/acme/translations-glossary") == []
    update = {"type": "update", "id": "rod", "translations": {"en": "x"}}
    api.refused(404, "PUT", "/orgs/acme/translations-glossary", {"operations": [update]})
    api.ok("PUT", "/orgs/acme/translations-glossary", {"operations": [{"type": "delete", "id": "rod"}]}, 204)
    assert api.ids(GLOSSARY) == ["core", "rod"]


@covers("updateTranslationsGlossary", 403)
@covers("listTranslationsGlossary", 403)
@covers("getTranslationsGlossaryEntry", 403)
def test_glossary_access_depends_on_role(api: Api) -> None:
    path = "/orgs/acme/translations-glossary"
    api.as_("kim-token").get(path)
    api.as_("gus-token").refused(403, "GET", path)
    api.as_("gus-token").refused(403, "GET", f"{path}/rod")
    api.as_("eve-token").refused(403, "PUT", path, {"operations": []})
    api.as_("lin-token").ok("PUT", path, {"operations": []}, 204)
