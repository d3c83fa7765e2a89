"""Logs: rewards that are already there, in a file or a table."""
