"""Define the API operations on translations: method, path, models and handler of each.

Topics: translations of spaces, and the glossary of an organization.
Output: `OPERATIONS`, one row for each operation, which `operations/__init__.py` collects.
`TITLE` is the heading of these operations in docs/api.md.
"""

from ..handlers.jobs import translations
from ..models import translations as mg
from ..resources.specifications import TRANSLATIONS
from .builders import FULL_ONLY, ORG, CrudOperations, get, listing, post, put

TITLE = "Translations"

TRANSLATION = ORG + "/translations/{translationId}"
GLOSSARY = ORG + "/translations-glossary"

_TRANSLATIONS = CrudOperations(TRANSLATIONS)

OPERATIONS = [
    _TRANSLATIONS.list("listTranslations", required_role="read", note="Lists the oldest translations first."),
    post("createTranslation", ORG + "/translations", translations.create_translation, mg.Translation,
         mg.TranslationCreate, status=201, required_role="create",
         note="Also starts the first run of the translation. Returns 400 if the space, or another "
              "translation of the space, has this language."),
    _TRANSLATIONS.get(
        "getTranslation", required_role="read",
        note="The response contains the field `result` only while the translated space exists."),
    put("updateTranslation", TRANSLATION, translations.update_translation, mg.Translation,
        mg.TranslationUpdate, required_role="create",
        note="Changes the instructions for the next run."),
    _TRANSLATIONS.delete("deleteTranslation", required_role="create", note="Keeps the translated space."),
    post("runTranslation", TRANSLATION + "/run", translations.run_translation, None, status=204,
         required_role="create",
         note="Starts no second run while another run is waiting or running."),
    listing("listTranslationsGlossary", GLOSSARY, translations.list_entries, mg.GlossaryEntry,
            mg.GlossaryQuery, required_role="read", **FULL_ONLY,
            note="Lists the oldest terms first. With `orderBy`, sorts the terms by their text "
                 "in this language."),
    get("getTranslationsGlossaryEntry", GLOSSARY + "/{glossaryEntryId}", translations.get_entry,
        mg.GlossaryEntry, required_role="read", **FULL_ONLY),
    put("updateTranslationsGlossary", GLOSSARY, translations.change_entries, None, mg.GlossaryChanges,
        status=204, required_role="create", **FULL_ONLY,
        note="Makes all changes or none. Translations of the local server ignore the glossary."),
]  # fmt: skip
