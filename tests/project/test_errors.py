"""The kinds of errors, their codes, and what each front end makes of a fix."""

from __future__ import annotations

import ast
import inspect
import pickle
from typing import Any

import pytest

import bestarm as ba
from bestarm import errors
from bestarm.cli.syntax import cli_syntax
from bestarm.errors import BestarmError
from bestarm.phrases import Call, Phrase, Setting, Verbatim, phrase
from bestarm.testing import BrokenRuleError
from places import ROOT

# Programs compare these codes: a name may be added here, and none changed.
CODES = {
    "BestarmError": ("error", (Exception,)),
    "InputError": ("bad-input", (ValueError,)),
    "UnclearError": ("unclear", (ba.InputError, ValueError)),
    "NotFoundError": ("not-found", (ba.InputError, ValueError)),
    "ConflictError": ("conflict", (ba.InputError, ValueError)),
    "LateError": ("late", (ba.InputError, ValueError)),
    "PolicyError": ("policy", (ba.InputError, ValueError)),
    "DecidedError": ("decided", (ba.InputError, ValueError)),
    "ArchivedError": ("archived", (ba.InputError, ValueError)),
    "WaitingError": ("waiting", (ba.InputError, ValueError)),
    "StoreError": ("store", (RuntimeError,)),
    "MissingExtraError": ("missing-extra", (ba.InputError, ba.StoreError, ValueError, RuntimeError)),
    "BrokenRuleError": ("broken-rule", (AssertionError,)),
}
FIX = Phrase("say {}, or {}", Setting("missing", "drop"), Setting("paired", True))
MADE: list[BestarmError] = [
    *(
        kind("pull", "be outstanding", 7, FIX)
        for kind in (ba.InputError, ba.NotFoundError, ba.ConflictError, ba.LateError, ba.PolicyError)
    ),
    ba.UnclearError("arm", "Which one?", [("", Call((Setting("arm", "banner"),))), ("if", Call((), "'x.csv'"))]),
    ba.DecidedError("identified", "study"),
    ba.ArchivedError("prompts"),
    ba.WaitingError("2,000 rewards wait for pull 3", True),
    ba.StoreError("no", "it is full", FIX, transient=True),
    ba.MissingExtraError("pandas", "tables"),
    BrokenRuleError("mine", "shift", "moves along", "1 and 2"),
]


def kinds() -> dict[str, type[BestarmError]]:
    found = {name: kind for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)}
    return {**found, "BrokenRuleError": BrokenRuleError}


def test_codes_are_frozen() -> None:
    assert {name: kind.code for name, kind in kinds().items()} == {name: code for name, (code, _) in CODES.items()}
    assert len({code for code, _ in CODES.values()}) == len(CODES)


@pytest.mark.parametrize("name", CODES)
def test_every_error_has_one_root_and_is_what_it_was(name: str) -> None:
    kind = kinds()[name]
    assert issubclass(kind, (BestarmError,))
    assert all(issubclass(kind, base) for base in CODES[name][1])
    if name != "BrokenRuleError":
        assert getattr(ba, name) is kind


@pytest.mark.parametrize("error", MADE, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling(error: BestarmError) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again: Any = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert vars(again) == vars(error)
        assert again.fix.settings == error.fix.settings


def test_every_kind_was_made() -> None:
    assert {type(error).__name__ for error in MADE} == set(CODES) - {"BestarmError"}


def test_a_fix_is_data_that_each_front_end_writes() -> None:
    error = ba.InputError("reward", Phrase("come with {}", Setting("arm")), None, FIX)
    assert str(error) == "reward must come with arm=, got None: say missing='drop', or paired=True"
    shouted = error.written(lambda setting: f"{setting.name.upper()} {setting.value}")
    assert shouted == "reward must come with ARM Ellipsis, got None: say MISSING drop, or PAIRED True"
    assert error.fix.settings == (("missing", "drop"), ("paired", True))
    assert error.about("line 3").written(str).startswith("line 3 must come with ")


def test_phrases_are_strings_that_can_be_joined() -> None:
    joined = "first, " + FIX + '; such as {"funny": 3}'
    assert joined == "first, say missing='drop', or paired=True; such as {\"funny\": 3}"
    assert joined.settings == FIX.settings
    assert joined.written(lambda setting: setting.name) == 'first, say missing, or paired; such as {"funny": 3}'
    assert phrase(FIX) is FIX
    bounds = Phrase("say {}", Setting("bounds", (Verbatim("low"), Verbatim("high"))))
    assert bounds == "say bounds=(low, high)"


def test_the_public_names_that_are_checked_are_those_that_are_loaded() -> None:
    """What `__init__` imports for type checkers is what it loads when first used."""
    tree = ast.parse((ROOT / "src" / "bestarm" / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    listed = {alias.name: node.module for node in imports for alias in node.names if alias.name != "*"}
    assert listed == ba.HOMES
    assert {name for name in ba.HOMES if inspect.ismodule(getattr(ba, name))} == set(ba.ROOMS)


def test_an_unclear_log_is_asked_about_with_calls_to_paste(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is the one that was typed, with the options that it lacks; typed ones are replaced."""
    choices = [
        ("", Call((Setting("arm", "my banner"), Setting("reward", "purchased")), "'visits.csv'")),
        ("if no other value is possible", Call((Setting("bounds", (-1.0, 5.0)),))),
        ("", Call((Setting("lower_is_better", True),))),
        ("", Call((Setting("lower_is_better", False),))),
    ]
    error = ba.UnclearError("arm", "Which column is the arm?", choices)
    assert str(error).splitlines() == [
        "Which column is the arm? Use one of:",
        "  identify_log('visits.csv', arm='my banner', reward='purchased')",
        "  if no other value is possible:",
        "    identify_log(data, bounds=(-1.0, 5.0))",
        "  identify_log(data, lower_is_better=True)",
        "  identify_log(data, lower_is_better=False)",
    ]
    typed = ["bestarm", "identify", "my visits.csv", "--arm", "bannre", "--bounds=1,5", "--lower-is-better"]
    monkeypatch.setattr("sys.argv", typed)
    start = "bestarm identify 'my visits.csv'"
    assert error.written(cli_syntax).splitlines() == [
        "Which column is the arm? Use one of:",
        f"  {start} --bounds=1,5 --lower-is-better --arm 'my banner' --reward purchased",
        "  if no other value is possible:",
        f"    {start} --arm bannre --lower-is-better --bounds=-1,5",
        f"  {start} --arm bannre --bounds=1,5 --lower-is-better",
        f"  {start} --arm bannre --bounds=1,5 --higher-is-better",
    ]
    assert "Use this:" in str(ba.UnclearError("arm", "Is it this one?", choices[:1]))
    assert error.about("reward").parameter == "reward"
    assert str(error.about("reward")) == str(error)
