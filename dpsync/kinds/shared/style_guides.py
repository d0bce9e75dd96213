"""Style guides: spaces of a type of their own. A request on a site makes one; several sites may name it."""

from dpsync.kinds.kind import ANY, Field, Patch, Post
from dpsync.kinds.types import Own

STYLEGUIDE = Field(
    "styleguide",
    Own(what="a style guide space"),
    on="update",
    read="styleguide.space",
    null="clear",
    # Making one is safe to repeat: a site that has one keeps it. Letting it go does not delete it.
    via={
        "own": Post("{self}/styleguide", None, repeat="safe"),
        ANY: Patch("{self}", {"styleguide": "$value"}, repeat="safe"),
        None: Patch("{self}", {"styleguide": None}, repeat="safe"),
    },
)
"""Of a site: which guide its editor's agent goes by."""
IS_STYLEGUIDE = {"type": ("styleguide",)}
"""Of an item of the list of spaces: then it is none that anybody declares."""
