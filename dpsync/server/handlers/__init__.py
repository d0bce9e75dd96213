"""What each operation does: plain functions of a Context, one module per part of the API."""
