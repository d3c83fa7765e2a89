"""All methods by name."""

from __future__ import annotations

from bestarm.checks import one_of
from bestarm.methods import certified, g_cbai, mean_gap, mean_se, median_se, random_sampling, se_cbai
from bestarm.methods._base import Method

METHODS: dict[str, Method] = {
    module.METHOD.name: module.METHOD
    for module in (certified, g_cbai, se_cbai, random_sampling, median_se, mean_se, mean_gap)
}

DEFAULT = "certified"


def get_method(name: str) -> Method:
    """Return a method by its name, or refuse the name and list those there are."""
    one_of("method", name, tuple(METHODS))
    return METHODS[name]
