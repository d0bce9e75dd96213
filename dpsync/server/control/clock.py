"""A clock that can be stopped and moved. Only what the API tells and forgets follows it, never a wait.

How it stands is kept in the database: it is the same for every worker and host, and after a restart.
"""

import json
from datetime import UTC, datetime, timedelta

from ..clock import utc_now
from ..store import Store

_SETTING = "clock"


class MovableClock:
    """Real time until it is frozen or advanced. OverflowError: beyond what a date can be."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self) -> datetime:
        frozen, ahead = self._stands()
        return frozen or utc_now() + ahead

    @property
    def mode(self) -> str:
        frozen, ahead = self._stands()
        if frozen:
            return "frozen"
        return "ahead" if ahead else "real"

    def real(self) -> None:
        self._store.set_setting(_SETTING, None)

    def freeze(self, at: datetime) -> None:
        self._keep(frozen=at.astimezone(UTC).isoformat())

    def advance(self, seconds: float) -> None:
        """A frozen clock stays frozen, a running one goes on running."""
        passed = timedelta(seconds=seconds)
        with self._store.transaction():
            frozen, ahead = self._stands()
            if frozen:
                self.freeze(frozen + passed)
            else:
                _ = utc_now() + ahead + passed
                self._keep(ahead=(ahead + passed).total_seconds())

    def _keep(self, **stands: str | float) -> None:
        self._store.set_setting(_SETTING, json.dumps(stands))

    def _stands(self) -> tuple[datetime | None, timedelta]:
        """The moment at which it is frozen, and how far it runs ahead."""
        kept = json.loads(self._store.setting(_SETTING) or "{}")
        frozen = datetime.fromisoformat(kept["frozen"]) if "frozen" in kept else None
        return frozen, timedelta(seconds=kept.get("ahead", 0))
