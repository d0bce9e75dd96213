"""The name of the world that a database holds: another one after each load, the same over restarts.

Ids of one world mean something else in another one, since every world counts its ids from the start. So
whoever keeps ids has to know which world they are of. The name is random and no part of the state: everything
else about a world is as deterministic as before.
"""

import secrets

from . import Store

HEADER = "Dpsync-World"
"""The header of every answer to a GET that was carried out."""
_SETTING = "world"


def rename(store: Store) -> None:
    """Give the world that is there now a name of its own."""
    store.set_setting(_SETTING, secrets.token_hex(8))


def ensure(store: Store) -> None:
    """One for all processes on a database: a world that was loaded before worlds had names gets one."""
    if store.setting(_SETTING) is None:
        with store.transaction():
            if store.setting(_SETTING) is None:
                rename(store)


def name_of(store: Store) -> str:
    """The name of the world."""
    return store.setting(_SETTING) or ""
