"""Steer the local server in tests. The control layers never change the meaning of the API.

Input: requests, and commands below `/_dpsync`.
Output: three ASGI layers: the control plane, the gateway (log, latency, rate limit, faults), the API.
"""
