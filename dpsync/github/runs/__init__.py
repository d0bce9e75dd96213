"""What a run of the action does: the commands plan, apply and drift, and the ids file after an apply.

In come the inputs of a run and what GitHub says of it, out go the result and what GitHub was told. It asks
`permission` first and tells by `messages`; `cli/action` calls it.
"""
