"""The configuration of earlier commits, and what the files say otherwise than one of them.

`git_program` alone starts git, and `git` reads the files of a commit without a checkout. `default_base`
says which commit is the base, `base` and `commits` load it by the same loader as the files of now, and
`edits` compares the two. `missing_files` tells a deleted file from one that only seems to be gone.
`checked_files` ensures that a run with secrets reads only files that are identical
in a given commit. `environment_source` finds the commit that sets the address of an environment.
In goes a repository's directory and perhaps the name of a commit; nothing in it is changed or run.
"""
