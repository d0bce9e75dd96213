"""The tables, as the steps by which a database of any older version comes to be one of this.

`{text}` is the type of a text that is compared byte by byte. A step, once released, is never changed.
"""

_STEPS = (
    (
        "CREATE TABLE meta (key {text} PRIMARY KEY, value BIGINT NOT NULL)",
        "CREATE TABLE counters (name {text} PRIMARY KEY, value BIGINT NOT NULL)",
        """CREATE TABLE documents (
          kind {text} NOT NULL, id {text} NOT NULL, organization {text} NOT NULL, scope {text} NOT NULL,
          parent {text} NOT NULL, position BIGINT NOT NULL, ref {text} NOT NULL, seq BIGINT NOT NULL,
          doc {text} NOT NULL, PRIMARY KEY (kind, id))""",
        "CREATE INDEX documents_organization ON documents (kind, organization, parent, position)",
        "CREATE INDEX documents_created ON documents (kind, organization, seq)",
        "CREATE INDEX documents_scope ON documents (kind, scope)",
        "CREATE INDEX documents_ref ON documents (kind, ref)",
        "INSERT INTO meta VALUES ('schema', 1)",
    ),
    (
        "CREATE TABLE settings (name {text} PRIMARY KEY, value {text} NOT NULL)",
        "INSERT INTO meta VALUES ('version', 0)",
    ),
)

SCHEMA_VERSION = len(_STEPS)


def steps_from(version: int, text: str) -> list[str]:
    """The statements that lead from a version (0: no tables) to this one."""
    return [statement.format(text=text) for step in _STEPS[version:] for statement in step]
