"""Scenarios in TOML: what is read, what is refused and how, what is written."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pandas as pd
import pytest
from markupsafe import escape

from bestarm.bandits import Bandit, Bernoulli, Gaussian, adversaries, paper_adversary
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.scenarios import Experiment, RandomCentres
from bestarm.scenarios.models import LAWS
from bestarm.scenarios.scenario import SHOWN, run_scenario, run_study
from bestarm.scenarios.scenario_file import parse_scenario, read_scenario, template
from bestarm.simulation import simulate
from command_line import Done, bestarm
from places import ROOT

TOP = {"name": '"small"', "trials": "20", "seed": "3", "delta": "0.1", "epsilon": "0.1", "sigma": "1"}
ARMS = '[arms]\nlaw = "gaussian"\nmeans = [2.5, 1.0]'
POINT = '[adversary]\nkind = "point"\nvalues = [0, 2]'
METHOD = '[[methods]]\nname = "mean-se"'


def toml(arms: str = ARMS, adversary: str = POINT, methods: str = METHOD, **top: str | None) -> str:
    """Return a scenario; keywords replace keys of its top, None removes one."""
    lines = [f"{key} = {value}" for key, value in (TOP | top).items() if value is not None]
    return "\n".join([*lines, arms, adversary, methods, ""])


def one(text: str) -> Experiment:
    (experiment,) = parse_scenario(text).experiments
    return experiment


# -------------------------------------------------------------------------------------------------------------- read


def test_a_scenario_becomes_one_experiment_with_all_that_the_file_says() -> None:
    experiment = one(toml(title='"Two arms"', max_pulls="500", delta="[0.1, 0.2]"))
    assert experiment.arms == (Gaussian(2.5), Gaussian(1.0))
    assert (experiment.deltas, experiment.epsilons, experiment.sweep) == ((0.1, 0.2), (0.1,), "delta")
    assert (experiment.sigma, experiment.bounds, experiment.max_pulls) == (1.0, None, 500)
    assert experiment.adversaries(3) == (adversaries.Point([0, 2]),)
    assert [curve.variant for curve in experiment.curves] == ["paper"]
    assert experiment.title == "Two arms"


def test_epsilon_is_the_axis_where_it_alone_is_a_list() -> None:
    experiment = one(toml(epsilon="[0.05, 0.1, 0.2]"))
    assert (experiment.sweep, experiment.epsilons) == ("epsilon", (0.05, 0.1, 0.2))


def test_two_lists_make_an_experiment_for_each_epsilon() -> None:
    first, second = parse_scenario(toml(delta="[0.1, 0.2]", epsilon="[0.05, 0.1]")).experiments
    assert (first.name, first.epsilons, first.deltas) == ("small-epsilon0.05", (0.05,), (0.1, 0.2))
    assert (second.name, second.epsilons, second.deltas) == ("small-epsilon0.1", (0.1,), (0.1, 0.2))


PARAMETERS = {
    "gaussian": "mean = 1\nsigma = 2",
    "bernoulli": "p = 0.5",
    "exponential": "mean = 2",
    "uniform": "low = 0\nhigh = 3",
    "lognormal": "mu = 0\nsigma = 1",
    "beta": "a = 1\nb = 2",
    "student-t": "df = 3\nmean = 1\nscale = 2",
    "discrete": "values = [0, 4]\nprobabilities = [0.75, 0.25]",
    "empirical": "values = [1, 1, 4]",
}
MEANS = dict(zip(PARAMETERS, (1.0, 0.5, 2.0, 1.5, 1.6487212707001282, 1 / 3, 1.0, 1.0, 2.0), strict=True))


@pytest.mark.parametrize("law", LAWS)
def test_every_law_can_be_an_arm_of_the_list(law: str) -> None:
    arms = f'[[arms]]\nlaw = "{law}"\n{PARAMETERS[law]}\n[[arms]]\nlabel = "low"\nlaw = "gaussian"\nmean = -1'
    scenario = parse_scenario(toml(arms=arms))
    assert [arm.mean for arm in scenario.arms] == pytest.approx([MEANS[law], -1.0])
    assert [named.label for named in scenario.named_arms] == ["arm 0", "low"]


@pytest.mark.parametrize(
    ("keys", "means"),
    [
        ('law = "gaussian"\nmeans = [2, 1]\nsigma = 0.5', [2.0, 1.0]),
        ('law = "bernoulli"\nmeans = [0.5, 0.25]', [0.5, 0.25]),
        ('law = "exponential"\nmeans = [2, 1]', [2.0, 1.0]),
        ('law = "student-t"\nmeans = [2, 1]\ndf = 3', [2.0, 1.0]),
    ],
)
def test_one_table_gives_all_arms_by_their_means(keys: str, means: list[float]) -> None:
    assert [arm.mean for arm in one(toml(arms=f"[arms]\n{keys}")).arms] == means


def test_the_adversaries() -> None:
    def of(keys: str, **top: str) -> object:
        (adversary,) = one(toml(adversary=f"[adversary]\n{keys}", **top)).adversaries(3)
        return adversary

    assert of('kind = "none"') is None
    assert of('kind = "point"\nvalues = 4') == adversaries.Point(4)
    assert of('kind = "uniform"\ncentres = [0, 2]') == adversaries.Uniform([0, 2], 1.0)
    assert of('kind = "gaussian"\nmeans = 1\nsigma = 0') == adversaries.Gaussian(1, 0)
    assert of('kind = "attack"\nname = "one-sided-gross"') == adversaries.Point([-1000, 1000])
    assert of('kind = "paper"\nmargin = 0.2\nreach = 2') == paper_adversary([2.5, 1], 0.1, 3, margin=0.2, reach=2)


def test_the_adversaries_have_words() -> None:
    def of(keys: str) -> str:
        return one(toml(adversary=f"[adversary]\n{keys}")).adversary.words

    assert of('kind = "point"\nvalues = [0, 2.5]') == "always 0, 2.5 (one per arm)"
    assert of('kind = "uniform"\ncentres = 3') == "uniform within 1 of 3"
    assert of('kind = "gaussian"\nmeans = 3\nsigma = 2') == "normal with standard deviation 2 around 3"
    assert of('kind = "none"') == "nothing is replaced"


def test_the_paper_adversary_can_be_drawn_several_times() -> None:
    experiment = one(toml(adversary='[adversary]\nkind = "paper"\ndraws = 4'))
    assert experiment.adversary == RandomCentres(0.5, 1.0, 4)
    assert len(set(experiment.adversaries(3))) == 4


@pytest.mark.parametrize(
    "kind", ['kind = "point"\nvalues = [0, 2]', 'kind = "paper"', 'kind = "attack"\nname = "hidden"']
)
@pytest.mark.parametrize("share", ["share-of-arm", "share-of-all"])
def test_the_adversary_keeps_to_a_share_if_a_method_is_told_so(kind: str, share: str) -> None:
    told = f'{METHOD}\n[[methods]]\nname = "certified"\ncontamination = "{share}"'
    text = toml(adversary=f"[adversary]\n{kind}", methods=told)
    (bare,) = one(toml(adversary=f"[adversary]\n{kind}")).adversaries(3)
    assert bare is not None
    assert parse_scenario(text).quota
    assert one(text).adversaries(3) == (adversaries.Quota(bare, "random"),)


@pytest.mark.parametrize("name", ["quota-hidden", "one-arm", "coin-on-best", "bursts"])
def test_an_attack_that_picks_its_hits_itself_is_left_as_it_is(name: str) -> None:
    told = '[[methods]]\nname = "certified"\ncontamination = "share-of-arm"'
    attack = f'[adversary]\nkind = "attack"\nname = "{name}"'
    scenario = parse_scenario(toml(adversary=attack, methods=told))
    assert not scenario.quota
    assert scenario.experiments[0].adversaries(3) == one(toml(adversary=attack)).adversaries(3)


def test_labels_say_what_the_options_are() -> None:
    more = '[[methods]]\nname = "g-cbai"\n'
    methods = f'{METHOD}\n{more}threshold = "empirical"\nalpha = 0.04\n{more}label = "G"'
    labels = [curve.label for curve in one(toml(methods=methods)).curves]
    assert labels == ["mean-se", "g-cbai (empirical, alpha 0.04)", "G"]


def test_options_are_those_of_the_catalogue() -> None:
    for name, method in METHODS.items():
        with pytest.raises(InputError) as caught:
            parse_scenario(toml(methods=f'[[methods]]\nname = "{name}"\nmagic = 1'))
        assert all(option.name in caught.value.rule for option in method.options)


# ----------------------------------------------------------------------------------------------------------- refused

TWO = '[[arms]]\nlaw = "gaussian"\nmean = 1\n'
BAD: list[tuple[str, str]] = [
    # the file
    ("name = ", "scenario must be TOML, got 'bad.toml': Invalid value (at end of document)"),
    ('name = "a"\ntrials = = 2', "scenario must be TOML, got 'bad.toml': Invalid value (at line 2, column 10)"),
    (f"trials = {'9' * 5000}", "scenario must be TOML, got 'bad.toml': Exceeds the limit"),
    (f"trials = {'[' * 20000}", "scenario must be TOML, got 'bad.toml': "),
    ("", "name must be given, got None: a scenario has name, trials, seed"),
    # keys
    (toml(trials=None), "trials must be given"),
    (toml(arms=""), "arms must be given"),
    (toml(adversary=""), "adversary must be given"),
    (toml(methods=""), "methods must be given"),
    (toml(tirals="5"), "tirals must be one of the keys name, trials, seed, delta, epsilon, arms, adversary, methods"),
    (toml(zzz="5"), "zzz must be one of the keys"),
    (
        toml(arms=f"{ARMS}\nmena = 3"),
        "arms.mena must be one of the keys law, means, sigma, got 3: did you mean arms.means?",
    ),
    # numbers and text of the top
    (toml(name='"a/b"'), "name must be 1 to 64 letters, digits, dots, - or _"),
    (toml(name="5"), "name must be 1 to 64 letters"),
    (toml(title='""'), "title must be one line of text, at most 200 characters, got ''"),
    (toml(title='"a\\nb"'), "title must be one line of text"),
    (toml(trials="true"), "trials must be a whole number >= 1, got True"),
    (toml(trials="2.5"), "trials must be a whole number >= 1, got 2.5"),
    (toml(trials='"20"'), "trials must be a whole number >= 1, got '20'"),
    (toml(seed="-1"), "seed must be a whole number in [0, 2^64), got -1"),
    (toml(seed=f"0x{'f' * 5000}"), "seed must be within 64 bits, got 'a number of 20000 bits'"),
    (toml(max_pulls="0"), "max_pulls must be a whole number >= 1, got 0"),
    (toml(delta="[]"), "delta must be a number or a list of at least one, got []"),
    (toml(delta="[0.1, 1.0]"), "delta[1] must be in (0, 1), got 1.0"),
    (toml(delta="[0.1, 0.1]"), "delta[1] must differ from the other values of delta"),
    (toml(delta="nan"), "delta must be in (0, 1), got nan"),
    (toml(epsilon="0.5"), "epsilon must be in [0, 0.5), got 0.5"),
    (toml(epsilon="false"), "epsilon must be in [0, 0.5), got False"),
    (toml(epsilon="{ a = 1 }"), "epsilon must be in [0, 0.5), got {'a': 1}"),
    (
        toml(epsilon="1e-300", methods='[[methods]]\nname = "certified"'),
        "delta, epsilon and sigma must be numbers that can",
    ),
    (toml(sigma=None), "sigma must be given, or bounds, and not both, got 'neither'"),
    (toml(bounds="[0, 1]"), "sigma must be given, or bounds, and not both"),
    (toml(sigma="0"), "sigma must be a finite number > 0, got 0"),
    (toml(sigma=None, bounds="[1, 0]"), "bounds must be two finite numbers (low, high) with low < high, got [1, 0]"),
    (
        toml(sigma=None, bounds="[0, 1]"),
        "bounds must contain all rewards, got [0.0, 1.0]: rewards of this scenario reach from",
    ),
    # arms
    (toml(arms="arms = 5"), "arms must be a table [arms] or a list [[arms]], got 5"),
    (toml(arms="arms = []"), "arms must be at least two, got []"),
    (toml(arms="arms = [1, 2]"), "arms[0] must be a table of keys, got 1"),
    (toml(arms=TWO), "arms must be at least two"),
    (
        toml(arms="[arms]\nmeans = [1, 2]"),
        "arms.law must be given, as one of gaussian, bernoulli, exponential, student-t",
    ),
    (
        toml(arms='[arms]\nlaw = "beta"\nmeans = [1, 2]'),
        "arms.law must be one of gaussian, bernoulli, exponential, student-t",
    ),
    (toml(arms='[arms]\nlaw = "gaussian"\nmeans = []'), "arms.means must be at least two, got []"),
    (toml(arms='[arms]\nlaw = "gaussian"\nmeans = 3'), "arms.means must be a list of numbers, got 3"),
    (toml(arms='[arms]\nlaw = "gaussian"\nmeans = [1, true]'), "arms.means[1] must be a finite number, got True"),
    (toml(arms='[arms]\nlaw = "bernoulli"\nmeans = [0.1, 1.5]'), "arms.means[1] must be in [0, 1], got 1.5"),
    (toml(arms='[arms]\nlaw = "student-t"\nmeans = [0, 1]'), "arms.df must be given"),
    (toml(arms=f"{ARMS}\nsigma = -1"), "arms.sigma must be a finite number > 0, got -1"),
    (toml(arms=f'{TWO}[[arms]]\nlaw = "gausian"\nmean = 2'), "arms[1].law must be one of gaussian, bernoulli"),
    (toml(arms=f'{TWO}[[arms]]\nlaw = "gaussian"'), "arms[1].mean must be given, got None: arms[1] has law, mean"),
    (toml(arms=f'{TWO}[[arms]]\nlaw = "gaussian"\nmean = "2"'), "arms[1].mean must be a finite number, got '2'"),
    (
        toml(arms=f'{TWO}[[arms]]\nlaw = "bernoulli"\nprob = 1'),
        "arms[1].prob must be one of the keys law, p, label, got 1",
    ),
    (toml(arms=f'{TWO}[[arms]]\nlaw = "beta"\na = 1\nb = 0'), "arms[1].b must be a finite number > 0, got 0"),
    (
        toml(arms=f'{TWO}[[arms]]\nlaw = "empirical"\nvalues = []'),
        "arms[1].values must be a flat list of finite numbers",
    ),
    (
        toml(arms=f'{TWO}[[arms]]\nlaw = "discrete"\nvalues = [1]\nprobabilities = [0.5]'),
        "arms[1].probabilities must be one for each value, none negative, with sum 1, got [0.5]",
    ),
    (toml(arms=f'{TWO}label = "A"\n{TWO}label = "A"'), "arms[1].label must differ from those of other arms, got 'A'"),
    (toml(arms=f"{TWO}label = 5\n{TWO}"), "arms[0].label must be one line of text, at most 40 characters, got 5"),
    # adversary
    ('adversary = "paper"\n' + toml(adversary=""), "adversary must be a table of keys, got 'paper'"),
    (
        toml(adversary="[adversary]"),
        "adversary.kind must be given, as one of paper, point, uniform, gaussian, attack, none",
    ),
    (toml(adversary='[adversary]\nkind = "papre"'), "adversary.kind must be one of paper, point"),
    (toml(adversary='[adversary]\nkind = "point"'), "adversary.values must be given"),
    (toml(adversary='[adversary]\nkind = "point"\nvalues = "x"'), "adversary.values must be a finite number, or one"),
    (
        toml(adversary='[adversary]\nkind = "point"\nvalues = [1, 2, 3]'),
        "adversary.values must have one value for all or one for each of 2 arms, got (1.0, 2.0, 3.0)",
    ),
    (
        toml(adversary='[adversary]\nkind = "uniform"\ncentres = 0\nhalfwidth = -1'),
        "adversary.halfwidth must be a finite",
    ),
    (toml(adversary='[adversary]\nkind = "none"\nvalues = 1'), "adversary.values must be one of the keys kind, got 1"),
    (toml(adversary='[adversary]\nkind = "paper"\nmargin = 0.95'), "adversary.margin must be in [0, 0.9], got 0.95"),
    (toml(adversary='[adversary]\nkind = "paper"\nreach = 0'), "adversary.reach must be a finite number > 0, got 0"),
    (toml(adversary='[adversary]\nkind = "paper"\ndraws = 21'), "adversary.draws must be a whole number from 1 to the"),
    (
        toml(adversary='[adversary]\nkind = "paper"\ndraws = true'),
        "adversary.draws must be a whole number from 1 to the",
    ),
    (
        toml(adversary='[adversary]\nkind = "attack"\nname = "hiden"'),
        "adversary.name must be one of benign, one-sided-gross",
    ),
    (
        toml(
            arms='[arms]\nlaw = "exponential"\nmeans = [2, 1]',
            adversary='[adversary]\nkind = "attack"\nname = "hidden"',
        ),
        "adversary.name must be an attack for these arms at this epsilon, got 'hidden': arms must have a sigma each",
    ),
    (
        toml(arms='[arms]\nlaw = "gaussian"\nmeans = [1, 1]', adversary='[adversary]\nkind = "paper"'),
        "arms must be at least two finite numbers with one largest, got [1.0, 1.0]",
    ),
    # methods
    ("methods = []\n" + toml(methods=""), "methods must be a list of at least one table, got []"),
    (
        toml(methods='[methods]\nname = "certified"'),
        "methods must be a list of at least one table, got {'name': 'certified'}",
    ),
    (toml(methods="[[methods]]\nalpha = 0.1"), "methods[0].name must be given, as one of certified, g-cbai"),
    (toml(methods=f'{METHOD}\n[[methods]]\nname = "gcbai"'), "methods[1].name must be one of certified, g-cbai"),
    (toml(methods=f"{METHOD}\n{METHOD}"), "methods[1].label must differ from those of other methods, got 'mean-se'"),
    (
        toml(methods=f'{METHOD}\n[[methods]]\nname = "g-cbai"\nthreshold = "magic"'),
        "methods[1].threshold must be one of theory, empirical, got 'magic'",
    ),
    (toml(methods='[[methods]]\nname = "g-cbai"\nalpha = true'), "methods[0].alpha must be in [0, 0.5), got True"),
    (
        toml(methods='[[methods]]\nname = "g-cbai"\nthreshhold = 1'),
        "methods[0].threshhold must be one of the keys name, label",
    ),
    (
        toml(methods='[[methods]]\nname = "certified"\ncontamination = "sources"'),
        "methods[0].contamination must be one of causal, prescient, malicious, share-of-arm, share-of-all, "
        "got 'sources'",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message.split(",")[0] for _, message in BAD])
def test_a_bad_file_is_refused_with_the_key_and_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_scenario(text, file="bad.toml")
    assert str(caught.value).startswith(message)


def test_a_misspelt_key_or_name_is_answered_with_the_one_that_was_meant() -> None:
    for text, hint in (
        (toml(tirals="5"), "did you mean trials?"),
        (toml(methods='[[methods]]\nname = "gcbai"'), "did you mean g-cbai?"),
        (toml(methods='[[methods]]\nname = "g-cbai"\nthreshhold = 1'), "did you mean methods[0].threshold?"),
        (toml(arms=f'{TWO}[[arms]]\nlaw = "gausian"\nmean = 2'), "did you mean gaussian?"),
        (toml(adversary='[adversary]\nkind = "attack"\nname = "hiden"'), "did you mean hidden?"),
    ):
        with pytest.raises(InputError) as caught:
            parse_scenario(text)
        assert caught.value.fix == hint


def test_a_key_below_the_wrong_brackets_is_found_there() -> None:
    with pytest.raises(InputError) as caught:
        parse_scenario(toml(trials=None, arms=f"{ARMS}\ntrials = 20"))
    assert str(caught.value).startswith("trials must be given, got None: it stands in [arms]; move it above the first")


def test_a_file_that_is_not_there_not_utf8_or_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"scenario must be a file that can be read.*No such file"):
        read_scenario(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match=r"scenario must be a file that can be read.*Is a directory"):
        read_scenario(tmp_path)
    path = tmp_path / "latin.toml"
    path.write_bytes('name = "a"\ntitle = "zä"\n'.encode("latin-1"))
    with pytest.raises(InputError, match=r"scenario must be text in UTF-8, got .*latin\.toml': line 2 is not"):
        read_scenario(path)


def test_a_mark_at_the_beginning_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(b"\xef\xbb\xbf" + toml().replace("\n", "\r\n").encode())
    scenario = read_scenario(path)
    assert scenario.experiments == parse_scenario(toml()).experiments
    assert scenario.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


# --------------------------------------------------------------------------------------------------------------- run


def test_the_points_are_those_of_simulate(tmp_path: Path) -> None:
    points = run_scenario(parse_scenario(toml(delta="[0.1, 0.2]")), out=tmp_path / "out")
    experiment = one(toml(delta="[0.1, 0.2]"))
    point = experiment.point(experiment.curves[0], 0.1, 0.1)
    bandit = Bandit([Gaussian(2.5), Gaussian(1.0)], 0.1, adversaries.Point([0, 2]))
    (seed,) = point.seeds(3, 1)
    trials = simulate(bandit, "mean-se", delta=0.1, trials=20, seed=seed, sigma=1.0, max_pulls=400_000)
    assert points["mean_pulls"].iloc[0] == trials.mean_pulls
    assert points["wrong"].iloc[0] == trials.wrong
    stored = pd.read_parquet(tmp_path / "out" / "trials.parquet")
    assert stored[stored["delta"] == 0.1]["pulls"].tolist() == trials.pulls.tolist()


def test_all_files_are_written_and_agree(tmp_path: Path) -> None:
    out = tmp_path / "out"
    points = run_scenario(parse_scenario(toml(delta="[0.1, 0.2]", epsilon="[0.05, 0.1]")), out=out)
    names = {path.name for path in out.iterdir()}
    assert names == {
        *("report.html", "figures", "points", "points.csv", "points.parquet", "points.tex"),
        *("trials.parquet", "trials.csv.gz", "settings.json"),
    }
    figures = {path.name for path in (out / "figures").iterdir()}
    assert figures == {f"small-epsilon{epsilon}.{kind}" for epsilon in (0.05, 0.1) for kind in ("png", "svg")}
    pd.testing.assert_frame_equal(pd.read_parquet(out / "points.parquet"), points)
    assert pd.read_csv(out / "points.csv")["mean_pulls"].tolist() == pytest.approx(points["mean_pulls"].tolist())
    assert set(SHOWN) <= set(points.columns)
    assert len(gzip.decompress((out / "trials.csv.gz").read_bytes()).splitlines()) == 4 * 20 + 1


def test_the_report_says_what_was_run_and_holds_the_file(tmp_path: Path) -> None:
    text = toml(
        arms='[[arms]]\nlabel = "<old>"\nlaw = "bernoulli"\np = 0.9\n[[arms]]\nlaw = "bernoulli"\np = 0.2',
        adversary='[adversary]\nkind = "point"\nvalues = [0, 1]',
        methods=f'{METHOD}\n[[methods]]\nname = "certified"\nlabel = "$\\\\frac{{ & $"\n'
        '[[methods]]\nname = "certified"\ncontamination = "share-of-arm"',
        sigma=None,
        bounds="[0, 1]",
        title='"Costs $1_{ or $2"',
    )
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    run_scenario(path, out=tmp_path / "out", trials=10, seed=5)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    for link in re.findall(r'href="#([^"]+)"', page):
        assert page.count(f'id="{link}"') == 1
    assert "<title>Costs $1_{ or $2</title>" in page
    assert "<td>&lt;old&gt;</td><td>bernoulli, p 0.9</td><td>0.9</td><td>best</td>" in page
    assert "bestarm scenario mine.toml --trials 10 --seed 5" in page
    assert hashlib.sha256(path.read_bytes()).hexdigest() in page
    assert f"<pre>{escape(text)}</pre>" in page
    assert "At any time at most a share ε of the rewards of each arm is replaced" in page
    assert "$\\frac{ &amp; $ is told that contamination is prescient, but the adversary keeps to share-of-arm" in page
    assert "certified (share-of-arm) is told" not in page
    (picture,) = re.findall(r'img src="data:image/svg\+xml,([^" ]+)"', page)
    words = "".join(ElementTree.fromstring(unquote(picture)).itertext())
    assert "$1_{ or $2" in words
    assert "\\frac{ & " in words


def test_the_report_warns_where_sigma_does_not_cover_the_arms_and_trials_are_cut(tmp_path: Path) -> None:
    run_scenario(parse_scenario(toml(sigma="0.5", max_pulls="5")), out=tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Not all arms are sub-Gaussian with the scale sigma = 0.5" in page
    assert "At 1 of 1 points some trials were cut at 5 pulls" in page


def test_a_folder_is_neither_mixed_nor_lost(tmp_path: Path) -> None:
    scenario, out = parse_scenario(toml()), tmp_path / "out"
    first = run_scenario(scenario, out=out)
    with pytest.raises(InputError, match="out must be new or empty"):
        run_scenario(scenario, out=out)
    with pytest.raises(InputError, match="seed must be 3, as in the run to resume, got 4"):
        run_scenario(scenario, out=out, seed=4, resume=True)
    with pytest.raises(InputError, match="study must be 'small', as in the run to resume"):
        run_scenario(parse_scenario(toml(name='"large"')), out=out, resume=True)
    seen: list[int] = []
    pd.testing.assert_frame_equal(run_scenario(scenario, out=out, resume=True, progress=seen.append), first)
    assert seen == [20]
    again = run_scenario(scenario, out=out, seed=4, overwrite=True)
    assert again["mean_pulls"].tolist() != first["mean_pulls"].tolist()
    with pytest.raises(InputError, match="out must be a folder that can be written"):
        run_scenario(scenario, out="/proc/bestarm")


def test_a_method_that_is_added_to_the_file_leaves_the_finished_points(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run_scenario(parse_scenario(toml()), out=out)
    (stored,) = (out / "points").iterdir()
    before = {path.name: path.stat().st_mtime_ns for path in stored.iterdir()}
    both = run_scenario(parse_scenario(toml(methods=f'{METHOD}\n[[methods]]\nname = "mean-gap"')), out=out, resume=True)
    assert both["method"].tolist() == ["mean-se", "mean-gap"]
    assert both.iloc[0]["mean_pulls"] == first.iloc[0]["mean_pulls"]
    assert {path.name: path.stat().st_mtime_ns for path in stored.iterdir()} == before


def test_several_adversaries_share_the_trials(tmp_path: Path) -> None:
    text = toml(adversary='[adversary]\nkind = "paper"\ndraws = 4')
    points = run_scenario(parse_scenario(text), out=tmp_path / "out", trials=10)
    assert points["trials"].tolist() == [12]
    with pytest.raises(InputError, match=r"adversary\.draws must be a whole number from 1 to the number of trials, 3"):
        run_scenario(parse_scenario(text), out=tmp_path / "few", trials=3)


def test_another_seed_is_checked_before_anything_is_written(tmp_path: Path) -> None:
    arms = '[arms]\nlaw = "bernoulli"\nmeans = [0.9, 0.1]'
    text = toml(arms=arms, adversary='[adversary]\nkind = "paper"', sigma=None, bounds="[-2, 3]")
    scenario = parse_scenario(text)
    assert scenario.arms == (Bernoulli(0.9), Bernoulli(0.1))
    with pytest.raises(InputError, match="seed must be a whole number"):
        run_scenario(scenario, out=tmp_path / "out", seed=-1)
    assert not (tmp_path / "out").exists()


# ----------------------------------------------------------------------------------------------------------- command


def scenario_command(*words: str, folder: Path) -> Done:
    return bestarm("scenario", *words, folder=folder)


def test_the_template_is_a_scenario_that_runs(tmp_path: Path) -> None:
    printed = scenario_command("--template", folder=tmp_path)
    assert (printed.returncode, printed.stdout) == (0, template())
    (tmp_path / "scenario.toml").write_text(printed.stdout, encoding="utf-8")
    done = scenario_command("scenario.toml", "--trials", "20", "--format", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert list(rows[0]) == list(SHOWN)
    assert [row["delta"] for row in rows] == [0.05, 0.1, 0.2] * 3
    assert {row["trials"] for row in rows} == {20}
    assert "report: results/my-scenario/report.html" in done.stderr
    stored = pd.read_parquet(tmp_path / "results" / "my-scenario" / "points.parquet")
    assert [row["mean_pulls"] for row in rows] == stored["mean_pulls"].tolist()


def test_the_template_names_every_key_law_kind_and_method() -> None:
    text = template()
    words = set(re.findall(r"[\w-]+", text))
    assert {"name", "title", "trials", "seed", "max_pulls", "delta", "epsilon", "sigma", "bounds", "label"} <= words
    assert {"margin", "reach", "draws", "values", "centres", "halfwidth", "probabilities", "means"} <= words
    assert {*LAWS, *METHODS, "paper", "point", "uniform", "gaussian", "attack", "none"} <= words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "FILE.toml must be given, got None: bestarm scenario --template prints an example"),
        (("--trials", "5"), "FILE.toml must be given, got None"),
        (("--template", "scenario.toml"), "--template must be given alone, got 'scenario.toml'"),
        (("nowhere.toml",), "scenario must be a file that can be read, got 'nowhere.toml'"),
        (("scenario.toml", "--trials", "0"), "trials must be a whole number >= 1, got 0"),
        (("scenario.toml", "--workers", "0"), "workers must be a whole number >= 1, got 0"),
        (("scenario.toml", "--resume"), "out must hold a run to resume, got 'results/small'"),
        (("scenario.toml", "--out", "scenario.toml"), "out must be a folder, got 'scenario.toml'"),
    ],
)
def test_a_wrong_command_is_one_line_and_exit_code_2(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "scenario.toml").write_text(toml(), encoding="utf-8")
    done = scenario_command(*words, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"bestarm: {message}")
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("scenario", "scenario.toml"), ("--means", "1,0")),
        (("scenario", "scenario.toml"), ("--epsilon", "0.2")),
        (("scenario", "scenario.toml"), ("--save", "x")),
        (("simulate", "--means", "1,0"), ("--out", "x")),
        (("simulate", "--means", "1,0"), ("--overwrite",)),
    ],
)
def test_simulate_and_scenario_each_refuse_the_options_of_the_other(
    tmp_path: Path, command: tuple[str, ...], option: tuple[str, ...]
) -> None:
    (tmp_path / "scenario.toml").write_text(toml(), encoding="utf-8")
    done = bestarm(*command, *option, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"No such option: {option[0]}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["scenario.toml"]


def test_simulate_without_means_names_both_commands() -> None:
    done = bestarm("simulate", "--trials", "5")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "bestarm: --means must be given, got None: such as --means 2.5,2.3,2,0.6; bestarm scen"
    )


def test_simulate_with_a_file_still_runs_the_scenario_and_says_that_it_is_deprecated(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(toml(), encoding="utf-8")
    done = bestarm("simulate", "mine.toml", "--out", "old", "--trials", "5", "--format", "json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    first, *_, last = done.stderr.splitlines()
    assert first == "bestarm simulate with a file is deprecated: write bestarm scenario FILE.toml"
    assert last == "report: old/report.html"
    new = scenario_command("mine.toml", "--out", "new", "--trials", "5", "--format", "json", folder=tmp_path)
    assert json.loads(new.stdout) == json.loads(done.stdout)
    assert bestarm("simulate", "--template").stdout == template()


def test_run_study_is_the_deprecated_name_of_run_scenario(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning, match="run_study is deprecated: use run_scenario"):
        points = run_study(parse_scenario(toml()), out=tmp_path / "old")
    pd.testing.assert_frame_equal(points, run_scenario(parse_scenario(toml()), out=tmp_path / "new"))


def test_the_example_of_the_guide_prints_what_it_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / "own-scenario.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.S)
    (printed,) = re.findall(r"```text\n(.*?)```", page, re.S)
    (tmp_path / "clicks.toml").write_text(example, encoding="utf-8")
    done = scenario_command("clicks.toml", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, printed)


def test_epsilon_may_be_0(tmp_path: Path) -> None:
    for number, epsilon in enumerate(("0", "[0, 0.1]")):
        path = tmp_path / f"scenario{number}.toml"
        path.write_text(toml(epsilon=epsilon), encoding="utf-8")
        table = run_scenario(path, out=tmp_path / f"out{number}")
        assert table["epsilon"].tolist() == [[0.0], [0.0, 0.1]][number]
        assert (tmp_path / f"out{number}" / "figures" / "small.svg").exists()
