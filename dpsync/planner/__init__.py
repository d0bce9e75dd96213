"""Pure functions from Desired and Snapshot to a Plan: no network, no files, no clock."""
