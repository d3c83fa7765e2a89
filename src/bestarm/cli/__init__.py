"""The command line: one file per command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command, or say what to install for it."""
    try:
        from bestarm.cli.app import run

        run()
    except ModuleNotFoundError as error:
        from bestarm.extras import explain

        told = explain(error)
        if told is error:
            raise
        print(f"bestarm: {told}", file=sys.stderr)
        sys.exit(2)


__all__ = ["main"]
