"""The command line: one file a command."""

from bestarm.cli.main import main

__all__ = ["main"]
