"""Part 4.11: translations."""

from ..families.specifications import TRANSLATIONS
from ..handlers.jobs import translations
from ..models import translations as mg
from .rows import ADDED, ORG, Rows, get, listing, post, put

TRANSLATION = ORG + "/translations/{translationId}"
GLOSSARY = ORG + "/translations-glossary"

_TRANSLATIONS = Rows(TRANSLATIONS)

OPERATIONS = [
    _TRANSLATIONS.list("listTranslations", needs="read", decided="Oldest first."),
    post("createTranslation", ORG + "/translations", translations.create_translation, mg.Translation,
         mg.TranslationCreate, status=201, needs="create",
         decided="Starts its first run. The language of the source may be left out when the space has one. "
         "A second translation of a space into the same language is 400, as is one into its own; a "
         "space that is not there is 404. Without instructions it has an empty document."),
    _TRANSLATIONS.get(
        "getTranslation", needs="read",
        decided="`result` is there once a run has made a space, and while that space is there."),
    put("updateTranslation", TRANSLATION, translations.update_translation, mg.Translation,
        mg.TranslationUpdate, needs="create",
        decided="Only the instructions, for the next run: it starts none. 404 for one that is not there."),
    _TRANSLATIONS.delete("deleteTranslation", needs="create", decided="The space that it made stays."),
    post("runTranslation", TRANSLATION + "/run", translations.run_translation, None, status=204,
         needs="create",
         decided="It is `running` at once. While a run waits or is under way, nothing more is started. 404 "
         "also when the source is gone."),
    listing("listTranslationsGlossary", GLOSSARY, translations.list_entries, mg.GlossaryEntry,
            mg.GlossaryQuery, needs="read", **ADDED,
            decided="Oldest first, or by the terms of the language that `orderBy` names; entries without "
            "one last."),
    get("getTranslationsGlossaryEntry", GLOSSARY + "/{glossaryEntryId}", translations.get_entry,
        mg.GlossaryEntry, needs="read", **ADDED),
    put("updateTranslationsGlossary", GLOSSARY, translations.change_entries, None, mg.GlossaryChanges,
        status=204, needs="create", **ADDED,
        decided="All operations or none. An update replaces every term of its entry; one of an entry that "
        "is not there is 404, deleting it is done. The stand-in that translates does not look at "
        "it."),
]  # fmt: skip
