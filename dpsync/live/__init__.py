"""Reads the platform, with GET alone: lists and trees, never a request per item."""
