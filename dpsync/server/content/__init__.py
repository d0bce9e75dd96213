"""The content of pages, as plain values: trees of pages, rich text and Markdown.

In go documents and changes; out come changed, merged, rendered or searched ones. It knows no store, no
request and no record: every room above may call it with values of its own. Where contents are kept: see
`spaces`.
"""
