"""How a command speaks and how it is stopped: streams, progress, signals.

In come documents, sentences and what a client reports, out go stdout and stderr, with every secret masked and
every foreign text escaped. Everything in `cli` may call it; it knows no command.
"""
