"""Compare a body with the current values of an object.

An object always accepts its current values, even if they would be invalid for a new object, for example
because a reference became broken or a rule is newer. So a client can send the body of a GET back. Handlers
validate only changes.
"""

import json
from typing import Any

from ..store import Json


def is_same_json(left: Any, right: Any) -> bool:
    """Return whether two values are the same JSON. `true` is not 1, and the order of members is ignored."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def changed_fields(before: Json, sent: Json) -> Json:
    """Return the given members that are missing in `before` or have another value there."""
    return {
        name: value
        for name, value in sent.items()
        if name not in before or not is_same_json(before[name], value)
    }
