"""What is not installed with the package itself, and which extra brings it."""

from __future__ import annotations

from importlib.util import find_spec

from bestarm.errors import InputError

EXTRAS = {
    "duckdb": "log",
    "matplotlib": "figures",
    "pandas": "tables",
    "pooch": "paper",
    "pyarrow": "tables",
    "rich": "cli",
    "sqlalchemy": "live",
    "typer": "cli",
}


def needs(*modules: str) -> None:
    """Refuse to go on without some modules, and say which extra brings them.

    >>> needs("pandas", "matplotlib")  # both are here
    """
    for module in modules:
        if not is_there(module):
            raise _missing(module)


def explain(error: ModuleNotFoundError) -> Exception:
    """Return an error that says which extra brings a module that was not found, or the same error if none does."""
    name = (error.name or "").partition(".")[0]
    return _missing(name) if name in EXTRAS else error


def _missing(module: str) -> InputError:
    extra = EXTRAS[module]
    fix = f"install the extra {extra}: pip install -e '.[{extra}]' in a clone of bestarm"
    return InputError(module, "be installed for this", "not found", fix)


def is_there(module: str) -> bool:
    """Tell whether a module can be imported, without doing so."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
