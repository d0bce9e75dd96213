"""For every test: properties have no deadline, since machines are shared; in CI they never vary."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("everywhere", deadline=None, print_blob=True)
settings.register_profile("ci", settings.get_profile("everywhere"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "everywhere")
