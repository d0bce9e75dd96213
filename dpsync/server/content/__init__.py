"""Handle the content of pages as plain values: trees of pages, rich text and Markdown.

Input: documents and changes. The package does not depend on the store, on requests or on records.
Output: changed, merged, rendered or searched documents. `spaces` keeps them in the store.
"""
