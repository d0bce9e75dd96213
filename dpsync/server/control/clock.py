"""Implement a clock that tests can freeze and advance. It affects times and expiry in the API, never a wait.

The state of the clock is in the database, so it is the same for every worker and host, and after a restart.
"""

import json
from datetime import UTC, datetime, timedelta

from ..clock import utc_now
from ..store import Store

_SETTING = "clock"


class MovableClock:
    """Returns the real time until it is frozen or advanced. OverflowError: beyond the range of dates."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self) -> datetime:
        frozen, ahead = self._load()
        return frozen or utc_now() + ahead

    @property
    def mode(self) -> str:
        """Return `frozen`, `ahead` (of real time) or `real`."""
        frozen, ahead = self._load()
        if frozen:
            return "frozen"
        return "ahead" if ahead else "real"

    def use_real_time(self) -> None:
        """Return to real time."""
        self._store.set_setting(_SETTING, None)

    def freeze(self, time: datetime) -> None:
        """Stop the clock at a time."""
        self._save(frozen=time.astimezone(UTC).isoformat())

    def advance(self, seconds: float) -> None:
        """Move the clock forward. A frozen clock stays frozen; a running clock keeps running."""
        passed = timedelta(seconds=seconds)
        with self._store.transaction():
            frozen, ahead = self._load()
            if frozen:
                self.freeze(frozen + passed)
            else:
                _ = utc_now() + ahead + passed
                self._save(ahead=(ahead + passed).total_seconds())

    def _save(self, **state: str | float) -> None:
        """Store the state of the clock: `frozen` (a time) or `ahead` (seconds), or neither."""
        self._store.set_setting(_SETTING, json.dumps(state))

    def _load(self) -> tuple[datetime | None, timedelta]:
        """Return the time at which the clock is frozen, or None, and how far it runs ahead of real time."""
        state = json.loads(self._store.setting(_SETTING) or "{}")
        frozen = datetime.fromisoformat(state["frozen"]) if "frozen" in state else None
        return frozen, timedelta(seconds=state.get("ahead", 0))
