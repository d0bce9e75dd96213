"""Store the random name of the loaded world (the data that the local server starts with).

Every world counts its ids from the start, so ids of one world have another meaning in another world. Clients
that keep ids need to know to which world they belong. The name changes with each load and survives restarts.
It is not part of the state, so the rest of a world remains deterministic.
"""

import secrets

from . import Store

WORLD_HEADER = "Dpsync-World"
"""The response header that names the world, in each successful response to a GET."""
_SETTING = "world"


def set_new_name(store: Store) -> None:
    """Give the current world a new name."""
    store.set_setting(_SETTING, secrets.token_hex(8))


def ensure_name(store: Store) -> None:
    """Give the world a name if it has none, once for all processes that share a database.

    A world that was loaded by an older version has no name.
    """
    if store.setting(_SETTING) is None:
        with store.transaction():
            if store.setting(_SETTING) is None:
                set_new_name(store)


def load_world_name(store: Store) -> str:
    """Return the name of the world."""
    return store.setting(_SETTING) or ""
