"""Live values and new entries into the files of a configuration that there is.

`update` replaces values, `add` makes entries for what nobody declares. In go the files, the configuration
and what is live of it; out come the edited texts and what could not be written. Nothing is written to a
disk here. Workflows call it.
"""
