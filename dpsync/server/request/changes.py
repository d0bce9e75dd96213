"""What a body changes, and what of it the thing says already.

A value that a thing has is always accepted, even when it could not be written anew: what it names may have
gone since, or the rule may be younger. So the body of a GET can be sent back. Handlers check changes only.
"""

import json
from typing import Any

from ..store import Json


def same(one: Any, other: Any) -> bool:
    """As JSON: `true` is not 1, and the order of members means nothing."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def changes(before: Json, given: Json) -> Json:
    """The members given that are not there yet, or with another value."""
    return {
        name: value for name, value in given.items() if name not in before or not same(before[name], value)
    }
