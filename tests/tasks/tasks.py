"""All tasks.

A task is ordinary unless a colleague would ask. Wanted questions are: key and title changed at once, content
removed beside new entries of its kind, and the number of a delete of content.
"""

from __future__ import annotations

from .additions import ADDITIONS
from .changes import CHANGES
from .deletes import DELETIONS
from .renames import RENAMES

TASKS = (*ADDITIONS, *RENAMES, *DELETIONS, *CHANGES)
