"""What the workflow's runner gives and takes.

In come the inputs of the action, the environment and the file of the event, out go lines of the log, outputs
of the step and its summary. `ActionRun` holds what one run shares. Every room above may call it, and
`cli/action`.
"""
