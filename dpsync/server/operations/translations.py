"""Part 4.11: translations."""

from ..handlers import translations
from ..models import translations as mt
from .rows import ORG, delete, get, listing, post, put

TRANSLATION = ORG + "/translations/{translationId}"

OPERATIONS = [
    listing("listTranslations", ORG + "/translations", translations.list_translations, mt.Translation,
            needs="read"),
    post("createTranslation", ORG + "/translations", translations.create_translation, mt.Translation,
         mt.TranslationCreate, status=201, needs="create"),
    get("getTranslation", TRANSLATION, translations.get_translation, mt.Translation, needs="read"),
    put("updateTranslation", TRANSLATION, translations.update_translation, mt.Translation,
        mt.TranslationUpdate, needs="create"),
    delete("deleteTranslation", TRANSLATION, translations.delete_translation, needs="create"),
    post("runTranslation", TRANSLATION + "/run", translations.run_translation, None, status=204,
         needs="create"),
]  # fmt: skip
