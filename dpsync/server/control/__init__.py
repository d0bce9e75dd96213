"""What stands in front of the API so that tests can steer it: it never changes what the API means.

Three layers, each an ASGI application around the next: the control plane under `/_dpsync`, the gateway
(request log, latency, rate limit, faults), the companion. Each of the outer two can be left out.
"""
