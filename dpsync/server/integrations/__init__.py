"""The rules of integrations: configurations, installations, events and images.

In go an integration and what is installed of it; out come the state of an installation, complaints about its
configuration, and events, which a job delivers. Answers, handlers and families use it.
"""
