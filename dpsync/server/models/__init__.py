"""Shapes of requests and answers, as the API describes them. No behaviour: limits, enumerations, names."""
