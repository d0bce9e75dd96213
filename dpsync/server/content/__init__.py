"""Handle the content of pages as plain values: trees of pages, rich text and Markdown.

Input: documents and changes. The package knows no store, no request and no record.
Output: changed, merged, rendered or searched documents. `spaces` keeps them in the store.
"""
