"""Run work that continues after the response, on the event loop.

Input: jobs that handlers queue in the transaction of their request. `handlers.jobs` has the code of each job.
Output: finished jobs, with stand-ins for other services: a translator, an analyst, a checker of OpenAPI.
"""
