"""The root file, its overlays and its includes → one tree of nodes, whatever the order of files and keys.

In go the names of root files and a source of files (`files`: a directory, or a commit of `git_base`); out
comes the tree in which variables are substituted and overlays applied. `discovery` says which files belong
together. The loader calls it, and whoever asks only which files a configuration has.
"""
