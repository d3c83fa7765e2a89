"""`python -m bestarm` is `bestarm`."""

from bestarm.cli import main

if __name__ == "__main__":
    main()
