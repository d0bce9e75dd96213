"""Shapes of requests and answers, as the API describes them: limits, enumerations, names. No behaviour."""
