"""The banner: one sentence about the state that is served, such as where and when it was read.

It belongs to the state that was loaded with it, so it is kept in the database, and is gone with that state.
"""

from ..store import Store

_SETTING = "banner"


def put_up(store: Store, text: str) -> None:
    """Say this of the state that is served now; "" takes the banner down."""
    store.set_setting(_SETTING, text or None)


def text_of(store: Store) -> str:
    """The sentence; "" where there is none."""
    return store.setting(_SETTING) or ""
