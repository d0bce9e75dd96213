"""Read the configuration files: YAML with positions, includes, overlays, variables and checks.

Overlays are files with other values for an environment.
Input: the root file with its includes, in a directory or in a commit, and the environment variables.
Output: `Desired` with the source line of every field, and all findings. `load.py` (`load_from`) is the start.
"""
