"""Break a promise in this process if the environment asks for it (tests/mutants/breaking.py)."""

from tests.mutants.breaking import install

install()
