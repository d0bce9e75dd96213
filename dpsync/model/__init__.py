"""Frozen value types that every layer shares. No I/O, no clock, no knowledge of any kind."""
