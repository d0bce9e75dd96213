"""What `dpsync doctor` looks at: the settings of a run, the platform, the declared objects, the workflow.

Nothing here writes.

- **Check**: one thing that was looked at, with where it is from and what to do about it.
"""
