"""From everything that is live to a whole configuration, as files in memory.

`inventory` reads an organization, `keys` names what was found, `entries` says what a person would say of
it, `layout` puts that into files and `configuration` loads them again before one is written. `navigation`
does the same for the platform's own navigation file. In go a reading client or that file, out come files
and what was left out of them. Workflows and the import command call it.
"""
