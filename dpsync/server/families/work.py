"""What is worked on in the background, and what comes of it: specifications, translations, conversations."""

from ..answers.conversations import CLUSTER, CONVERSATION, ISSUE
from ..events import INTEGRATION, queue
from ..family import Family, Link
from ..handlers import glossary, openapi, translations
from ..jobs import KIND as JOB

FAMILIES = (
    Family(openapi.KIND, owner="organization"),
    Family(openapi.VERSION, owner=openapi.KIND),
    Family(glossary.KIND, owner="organization"),
    Family(translations.KIND, owner="organization"),
    Family(CLUSTER, owner="organization"),
    Family(CONVERSATION, owner="organization"),
    Family(ISSUE, owner="organization"),
    Family(JOB, links=(
        Link(openapi.KIND),
        Link(translations.KIND),
        Link(INTEGRATION, lambda integration: {"ref": queue(integration).id}),
    )),
)  # fmt: skip
