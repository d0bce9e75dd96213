"""A clock that can be stopped and moved. Only what the API tells and forgets follows it, never a wait."""

from datetime import UTC, datetime, timedelta

from ..clock import utc_now


class MovableClock:
    """Real time until it is frozen or advanced. OverflowError: beyond what a date can be."""

    def __init__(self) -> None:
        self.real()

    def __call__(self) -> datetime:
        return self._frozen or utc_now() + self._ahead

    @property
    def mode(self) -> str:
        if self._frozen:
            return "frozen"
        return "ahead" if self._ahead else "real"

    def real(self) -> None:
        self._frozen: datetime | None = None
        self._ahead = timedelta()

    def freeze(self, at: datetime) -> None:
        self._frozen = at.astimezone(UTC)

    def advance(self, seconds: float) -> None:
        """A frozen clock stays frozen, a running one goes on running."""
        passed = timedelta(seconds=seconds)
        if self._frozen:
            self._frozen += passed
        else:
            _ = utc_now() + self._ahead + passed
            self._ahead += passed
