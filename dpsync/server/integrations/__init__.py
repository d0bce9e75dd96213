"""Apply the rules of integrations: configurations, installations, events and images.

Input: an integration and its installations.
Output: the state of an installation, faults of its configuration, and events that a job delivers.
"""
