"""Control the local server in tests: latency, rate limits, faults, clock. The API itself stays the same.

Input: requests to the API, and commands below `/_dpsync`.
Output: three ASGI layers: the control plane, the gateway (log, latency, rate limit, faults), the API.
"""
