"""Run work that continues after the response (jobs), on the event loop of the local server.

Input: jobs that handlers queue in the transaction of their request. `handlers.jobs` has the code of each job.
Output: finished jobs. Other services have stand-ins: a translator, an analyst, a checker of OpenAPI.
"""
