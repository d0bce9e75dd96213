"""Types that several kinds share: languages, and texts in them."""

from dpsync.kinds.types import Enum, Table, Text

LANGUAGES = (
    "en", "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "zh-tw", "yue", "ko", "ar", "hi", "nl",
    "pl", "tr", "sv", "no", "da", "fi", "el", "cs", "hu", "ro", "th", "vi", "id", "ms", "he", "uk", "sk",
    "bg", "hr", "lt", "lv", "et", "sl",
)  # fmt: skip
LANGUAGE = Enum(LANGUAGES)


def localized(most: int) -> Table:
    """A text in some languages, each of at most so many characters."""
    return Table(LANGUAGE, Text(0, most))


LOCALIZED = localized(2048)
