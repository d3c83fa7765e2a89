"""The report on a log: one page that can be handed on, with what was asked, what came out, and how to repeat it.

There is no date on it: the same log, command and versions give the same page, byte for byte.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import quote

from bestarm.contamination import of_options, whole_share
from bestarm.errors import InputError
from bestarm.identification.result import ArmRow, share_shown
from bestarm.identification.robustness import Sensitivity
from bestarm.log.picture import MOST_ROWS, as_png, as_svg, draw, known_leads, ranked_rows
from bestarm.log.result import LogResult
from bestarm.log.writers import HtmlPage, MarkdownPage, Page
from bestarm.problem import Label
from bestarm.validation import writable_folder

__all__ = ["check_place", "draw", "write_report"]

ENDINGS = (".html", ".md")
_MOST_ARMS = 50
_MOST_LETTERS = 120  # of a label in a table or a sentence, of which fewer are in a heading
_PACKAGES = ("numpy", "scipy", "numba", "duckdb", "matplotlib")
_REPLACED = "replaced (fake, mistaken, made up by somebody)"


def check_place(path: str | Path) -> Path:
    """Return where a report is to be written, or refuse a place where none can be, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise InputError("report", "end in .html or .md", str(path), "the ending says what is written")
    if not target.parent.is_dir():
        raise InputError("report", "be in a folder that is there", str(path), "make the folder first")
    writable_folder("report", target.parent)
    if target.is_dir():
        raise InputError("report", "be a file", str(path), "it is a folder")
    return target


def write_report(result: LogResult, path: str | Path, *, command: str | None = None, logs: Sequence[Path] = ()) -> None:
    """Write the report on a verdict.

    Parameters
    ----------
    result : LogResult
        The verdict.
    path : path
        The file: .html for one page with everything in it, .md for Markdown, with the picture beside it as a PNG file
        of the same name.
    command : str, optional
        What was typed.
    logs : sequence of paths
        The files that were read, whose SHA-256 is given; by default those that the result names, as far as they are
        still there.
    """
    target = check_place(path)
    prints = list(_fingerprints(result, logs))
    if target.suffix.lower() == ".html":
        page = HtmlPage(_title(result))
        _write_sections(page, result, command, prints)
        _save(target, page.text().encode("utf-8"))
        return
    picture = target.with_suffix(".png")
    text = MarkdownPage()
    _write_sections(text, result, command, prints, quote(picture.name))
    _save(picture, as_png(draw(result)))
    _save(target, text.text().encode("utf-8"))


def _write_sections(
    page: Page, result: LogResult, command: str | None, prints: Sequence[tuple[str, str]], picture: str = ""
) -> None:
    page.heading(_title(result))
    _question(page, result)
    _answer(page, result)
    page.heading("The picture", "picture")
    if isinstance(page, HtmlPage):
        wide, tall = (as_svg(draw(result, tall=tall, curve=False)) for tall in (False, True))
        page.picture(wide, tall, f"{_headline(result)}: intervals of the arms, and leads; the numbers are in the table")
    elif isinstance(page, MarkdownPage):
        page.picture(picture, f"{_headline(result)}: intervals of the arms, leads, and the verdict at each epsilon")
    page.bullets(_legend(result))
    _arms(page, result)
    _sensitivity(page, result)
    _health(page, result)
    _assumptions(page, result)
    _repeat(page, result, command, prints)


# ------------------------------------------------------------------------------------------------ question and answer


def _title(result: LogResult) -> str:
    return f"Which of {len(result.arms):,} arms has the highest mean reward?"


def _question(page: Page, result: LogResult) -> None:
    page.heading("The question", "question")
    page.say(f"Which of them has the highest mean, given that some of the rewards may be fake? {_how_weighed(result)}")
    page.bullets(_terms(result))


def _how_weighed(result: LogResult) -> str:
    if result.sequential:
        return (
            f"The {result.rows:,} rewards of the log were replayed in order until the question was decided: "
            f"{result.pulls:,} were used, and {result.ignored:,} ignored."
        )
    if result.sources is None:
        return f"{_which_rewards(result)} were weighed at once; their order does not matter."
    order = "their order" if result.options.get("paired") else "the order of the sources"
    return f"{_which_rewards(result)}, by {result.sources:,} sources, were weighed at once; {order} does not matter."


def _which_rewards(result: LogResult) -> str:
    """Say which rewards were: a part is set aside to estimate sigma, and of each source the first of an arm counts."""
    if result.pulls == result.rows:
        return f"All {result.rows:,} rewards of a log"
    why = " (the first of each source for each arm)" if result.sources is not None else ""
    aside = " (sigma was estimated from others)" if result.sigma_from is not None else ""
    return f"{result.pulls:,} of the {result.rows:,} rewards of a log{why}{aside}"


def _terms(result: LogResult) -> Iterator[str]:
    yield f"epsilon = {result.epsilon:g}: {_meaning(result)}."
    if result.bounds is not None:
        yield f"A reward lies between {result.bounds[0]:g} and {result.bounds[1]:g}."
    else:
        known = "" if result.sigma_from is None else f", estimated from {result.sigma_from:,} rewards set aside for it"
        yield f"sigma = {result.sigma:.4g}: the (sub-Gaussian) scale on which clean rewards scatter{known}."
    yield f"delta = {result.delta:g}: we accept at most a {_percent(result.delta)} chance of a wrong answer."
    if result.options.get("good_enough") is not None:
        yield f"An arm that is at most {result.options['good_enough']:g} worse than the best is good enough."
    if result.options.get("paired"):
        yield "Two arms are compared by the difference between what the same source says of each."


def _meaning(result: LogResult) -> str:
    """Say what epsilon means under this contamination."""
    kind, share = result.options.get("contamination"), _percent(result.epsilon)
    many = "" if result.replaced is None else f" (that is, {result.replaced:,})"
    if result.epsilon == 0.0:
        return f"no {'source is dishonest' if kind == 'sources' else 'reward was replaced'} at all"
    if kind == "share-of-all" and not result.sequential:
        return (
            f"of all {result.rows:,} rewards, at most {share}{many} were {_REPLACED}; it could be any of them, even "
            "all of one arm's"
        )
    if kind == "share-of-arm" and not result.sequential:
        most = "" if result.replaced is None else f" (never more than {result.replaced:,})"
        return f"of each arm's rewards, at most {share}{most} were {_REPLACED}; it could be any of them"
    if kind == "sources" and not result.sequential:
        return f"of the {result.sources:,} sources, at most {share}{many} are dishonest, and those may say anything"
    model = of_options(result.options)
    return f"{result.promise if model is None else model.words} (epsilon is {share})"


def _answer(page: Page, result: LogResult) -> None:
    page.heading("The answer", "answer")
    page.answer(_headline(result), result.best is not None and not result.alarms)
    if result.alarms:
        words = "Alarm: the rewards contradict the assumptions, so no probability is claimed for anything on this page."
        page.alarms(words, _alarms(result))
    sentence = str(result).removesuffix("".join(f" Alarm: {alarm}." for alarm in result.alarms))
    page.say(_capital(_shortened(sentence, result)))
    if result.best is None:
        page.bullets(_shortened(sentence, result) for sentence in _what_would_help(result))
    elif not result.alarms:
        page.bullets(_shortened(sentence, result) for sentence in _strength(result))


def _alarms(result: LogResult) -> list[str]:
    return [f"{_capital(_shortened(alarm, result))}." for alarm in result.alarms]


def _headline(result: LogResult) -> str:
    if result.best is None:
        return "No winner is named" + (", and the log contradicts the assumptions" if result.alarms else "")
    name = repr(_short(result.best, 60))
    if result.alarms:
        return f"{name} comes first, but nothing is claimed: the log contradicts the assumptions"
    if not result.proved:
        return f"{name} is named by {result.method}, which proves nothing"
    what = f"is within {result.options['good_enough']:g} of" if _is_near(result) else "has"
    return f"{name} {what} the highest mean of {len(result.arms):,} arms"


def _strength(result: LogResult) -> Iterator[str]:
    leads = known_leads(result)
    if leads and not _is_near(result):
        closest = min(leads, key=lambda label: leads[label])
        if leads[closest] > 0.0:
            yield (
                f"It leads every other arm by at least {leads[closest]:.3g} (the closest is {closest!r}); if it is the "
                f"best, its leads over all of them hold together with probability {1.0 - result.delta:g}."
            )
    if result.p_value is not None and not _is_near(result):
        yield f"p-value {result.p_value:.2g} (null hypothesis: some other arm is at least as good)."


def _what_would_help(result: LogResult) -> Iterator[str]:
    """Say what may lead to an answer."""
    if result.alarms:
        yield "First fix what the alarm reports: if epsilon or sigma is too small, give a larger one."
    if result.hint:
        yield f"{_capital(result.hint)}."
    if result.limit == "contamination":
        yield (
            "What would help: a smaller epsilon, if you have grounds for it other than wanting a winner; the curve "
            "below shows how small. “bestarm inspect” shows what looks wrong in the log."
        )
        if result.options.get("contamination") != "sources":
            yield (
                "If the log has a column that says who gave each reward (a voter, a device), give it as the source: "
                "then epsilon is a share of the sources, and each counts once per arm, however often it rewards it."
            )
    elif result.limit == "budget":
        yield f"{_capital(result.outlook())}."
    if result.options.get("good_enough") is None and len(result.candidates) > 1:
        yield "If an arm that is nearly the best will do, say how near (good_enough): that may take fewer rewards."


# --------------------------------------------------------------------------------------------------- picture and table


def _legend(result: LogResult) -> Iterator[str]:
    colours = "Blue: not ruled out. Grey: ruled out."
    yield f"{'Green: the arm that is named. ' if result.best is not None else ''}{colours}"
    sure = result.method == "certified" and not result.alarms
    said = "" if not sure else f", and all of them hold together with probability {1.0 - result.delta:g}"
    yield f"Intervals are for display{said}; arms are compared in pairs, which separates more than intervals do."
    if known_leads(result):
        yield (
            "Leads extend to the right from the smallest that is proved; left of 0 the other arm may be ahead."
            if result.best is not None
            else "Leads are those of the arm that is ahead (not proved), extending to the right from the smallest; "
            "left of 0 the other arm may be ahead."
        )
    if len(result.arms) > MOST_ROWS:
        yield f"Of {len(result.arms):,} arms, the first {MOST_ROWS} are drawn, in the order of the table."


def _arms(page: Page, result: LogResult) -> None:
    page.heading("The arms", "arms")
    rows, leads = ranked_rows(result), known_leads(result)
    first = result.best if result.best is not None else result.leader
    moved = {} if not result.moved_means else result.means
    head = ["arm", "rewards", result.middle, *(["plain mean"] if moved else []), "interval"]
    if leads:
        head.append(f"{_short(first, 20)} leads by at least")
    table = [
        [_short(row.label), f"{row.pulls:,}", _number(row.estimate)]
        + ([_number(moved[row.label])] if moved else [])
        + [_interval(row)]
        + ([_number(leads[row.label]) if row.label in leads else "–"] if leads else [])
        + [_standing(row, result)]
        for row in rows[:_MOST_ARMS]
    ]
    page.table([*head, "verdict"], table, 0 if result.best is not None else None)
    if len(rows) > _MOST_ARMS:
        page.say(f"These are {_MOST_ARMS} of {len(rows):,} arms: the other {len(rows) - _MOST_ARMS:,} are left out.")
    page.say(
        "Order: the winner or leader, then the arms not ruled out, then the others, each group from the highest down. "
        + _what_means_are(result)
        + (" A negative lead: the arm may be ahead." if any(lead < 0.0 for lead in leads.values()) else ""),
        soft=True,
    )


def _what_means_are(result: LogResult) -> str:
    if not result.means:
        return ""
    if result.middle == "mean":
        return "Means are of the rewards as they stand, fakes included."
    said = "Estimates are what the evidence supports, to which rewards far out add little."
    return f"{said} Plain means are of the rewards as they stand, fakes included." if result.moved_means else said


def _standing(row: ArmRow, result: LogResult) -> str:
    if row.label == result.best:
        return "named"
    if row.label not in result.candidates:
        return "ruled out"
    return "ahead (not proved)" if row.label == result.leader and result.best is None else "not ruled out"


def _interval(row: ArmRow) -> str:
    return f"{_number(row.lower)} to {_number(row.upper)}" if row.lower <= row.upper else "no mean fits"


# --------------------------------------------------------------------------------------------------------- sensitivity


def _sensitivity(page: Page, result: LogResult) -> None:
    page.heading("What if more is fake?", "sensitivity")
    for sentence in _bears(result):
        page.say(_shortened(sentence, result))
    if not result.sensitivity:
        page.say("A replay in order has no table over epsilon; leave out sequential to get one.", soft=True)
        return
    if isinstance(page, HtmlPage):
        wide, tall = (as_svg(draw(result, tall=tall, arms=False)) for tall in (False, True))
        page.picture(wide, tall, "how many arms may be the best at each epsilon; the table says the same")
    total = {"share-of-all": result.rows, "sources": result.sources}.get(str(result.options.get("contamination")))
    total = None if result.sequential else total
    what = "sources" if result.sources is not None else "rewards"
    head = ["epsilon", *([f"{what}, at most"] if total is not None else []), "verdict", "may be the best"]
    weighed = result.sensitivity
    own = [row.epsilon for row in weighed].index(result.epsilon)
    last = len(weighed) - 1  # from here on all lines are alike, and made one
    while last - 1 > own and _weighed(weighed[last - 1]) == _weighed(weighed[-1]):
        last -= 1
    rows = []
    for first, end in [*((row, row) for row in weighed[:last]), (weighed[last], weighed[-1])]:
        counts = [] if total is None else [f"{whole_share(each.epsilon, total):,}" for each in (first, end)]
        cells = [" to ".join(dict.fromkeys(pair)) for pair in ([f"{first.epsilon:g}", f"{end.epsilon:g}"], counts)]
        rows.append([*cells[: 1 if total is None else 2], *_weighed(first)])
    page.table(head, rows, own)
    page.say(_how_to_read(result), soft=True)


def _how_to_read(result: LogResult) -> str:
    said = (
        "The marked line is the one that was asked for. A line holds only if no more than its epsilon was replaced: an "
        "arm named at a small epsilon means nothing if more is fake. "
    )
    if result.alarms:
        return f"{said}No probability is claimed, as the log contradicts the assumptions."
    if result.sequential:
        return (
            f"{said}The lines weigh the rewards that the replay used, not those after its decision. Each is right with "
            f"probability {1.0 - result.delta:g} by itself; nothing is claimed about all of them together."
        )
    sigma = "" if result.sigma_from is None else f", if sigma is at most {result.sigma:.3g} there too"
    return (
        f"{said}You may choose a line after seeing the table: all lines that allow for enough fakes are right together "
        f"with probability {1.0 - result.delta:g}{sigma}."
    )


def _bears(result: LogResult) -> Iterator[str]:
    """Say how much contamination the answer can withstand, and no more than is proved."""
    name = repr(result.best if result.best is not None else result.leader)
    if result.alarms:
        yield "Nothing is claimed about how much the answer can withstand, as the log contradicts the assumptions."
        return
    if result.tolerance is None or result.overturn is None:
        if result.best is None and not result.sequential:
            yield "Even if nothing had been replaced, these rewards would not single out any arm."
        return
    count = result.overturn_in_words()
    if result.sigma_from is not None:
        yield (
            f"Sigma was estimated for epsilon = {result.epsilon:g}. What is said here of a larger epsilon, or of more "
            f"{'dishonest sources' if result.sources is not None else 'replaced rewards'}, holds only if sigma is at "
            f"most {result.sigma:.3g} then too, which is not proved."
        )
    if result.best is not None and not _is_near(result):
        yield (
            f"The same rewards single out {name} {_up_to(result)}, and with up to {count}, whichever they are: it "
            "would take more than that to overturn the answer. More might overturn it, or might not."
        )
        yield f"So the question to ask is: could there be more than {count}?"
        return
    if result.tolerance == 0.0 and result.overturn == 0:
        yield f"{name} would be singled out as the best only if nothing at all had been replaced."
        return
    share = f"if epsilon were at most {_share(result.tolerance)}, or "
    share = share if result.tolerance > 0.0 else ""
    yield f"{name} would be singled out as the best {share}with at most {count}; with more, it is not."


def _up_to(result: LogResult) -> str:
    assert result.tolerance is not None
    if result.tolerance == 0.0:
        return "at epsilon = 0"
    grid = " of a grid" if result.sequential else ""
    return f"at every epsilon{grid} up to {_share(result.tolerance)}"


def _share(share: float) -> str:
    return f"{share_shown(share)} ({share_shown(100.0 * share)} %)"


def _weighed(row: Sensitivity) -> tuple[str, str]:
    left = ", ".join(_short(label, 30) for label in row.candidates[:5])
    left += f" and {len(row.candidates) - 5:,} more" if len(row.candidates) > 5 else ""
    if row.alarms:
        return "the log contradicts it", left
    if row.best is not None:
        return f"{_short(row.best, 30)} is named", left
    if row.limit == "contamination":
        return "none: fakes may hide the lead", left
    return "none: too little evidence", left


# ---------------------------------------------------------------------------------------- data, assumptions, repetition


def _health(page: Page, result: LogResult) -> None:
    health = result.health
    page.heading("Data health", "health")
    if not health.rows:
        page.say("The rewards were passed in directly: nothing is known of the file they came from.")
        return
    said = health.sentences()
    page.bullets([*said[: len(said) - len(health.guesses)], *_left_out(result)])
    if len(health.bad_examples) > 1:
        page.say("The first bad rows:")
        page.bullets(f"{row}." for row in health.bad_examples)
    if health.guesses:
        page.say("Not specified, so guessed:")
        page.bullets(health.guesses)
    else:
        page.say("Nothing had to be guessed (columns, encoding).", soft=True)


def _left_out(result: LogResult) -> Iterator[str]:
    health = result.health
    if health.missing:
        yield (
            f"{_percent(health.missing_share)} of the rewards that should be there are missing; epsilon is "
            f"{_percent(result.epsilon)}."
        )
    if not result.ignored:
        return
    if result.sequential:
        why = "they came after the decision"
    elif result.sigma_from is not None:
        why = "sigma was estimated from them"
    elif result.ignored == health.repeated:
        yield "Those were not used: a source counts once for an arm, by its first reward."
        return
    else:
        why = "their source had already rewarded the same arm, or is unknown"
    yield f"{result.ignored:,} rewards were not used for the evidence: {why}."


def _assumptions(page: Page, result: LogResult) -> None:
    page.heading("What it rests on", "assumptions")
    if result.alarms:
        page.alarms("The log itself contradicts what is assumed here:", _alarms(result))
    meant = "has probability" if result.proved else "is meant (nobody has proved it) to have probability"
    not_so = ", which it is not" if result.alarms else ""
    page.say(f"A wrong answer {meant} at most {_percent(result.delta)} if all of this is true{not_so}:")
    noise = "clean rewards scatter no more widely than sigma says"
    if result.bounds is not None:
        noise = "every reward lies within the bounds"
    page.bullets(f"{_capital(part)}." for part in (*result.promise.split("; "), noise))
    page.say("What is not claimed:")
    page.bullets(_not_claimed(result))


def _not_claimed(result: LogResult) -> Iterator[str]:
    yield (
        "That anything was replaced, or by whom: epsilon was assumed beforehand, not found. If more is fake than it "
        "allows for, all of this may be wrong."
    )
    if result.best is None:
        yield "That the arms are equally good: only that no winner is named. The arm that is ahead is not proved best."
    else:
        yield "That the winner is the best by any measure but the mean of rewards like these."
    if result.limit == "contamination":
        yield "That more rewards would not settle it, with probability 1 - delta: delta does not cover this judgement."
    if result.tolerance is not None and not result.alarms:
        yield "That so many rewards were in fact fake: the counts say how many the answer can withstand."


def _repeat(page: Page, result: LogResult, command: str | None, prints: Sequence[tuple[str, str]]) -> None:
    page.heading("How to repeat it", "repeat")
    if command:
        page.code(command)
    elif result.sequential:
        page.say("bestarm.identify_log(..., sequential=True) with the settings below.")
    else:
        page.say("bestarm.identify_log with the settings below.")
    page.table(["setting", "value"], [list(pair) for pair in _settings(result)])
    if prints:
        page.table(["log", "SHA-256"], [list(pair) for pair in prints])
    else:
        page.say("There is no file to fingerprint (SHA-256): the log came from a table or a pipe.")
    page.say(f"Versions: {', '.join(f'{name} {number}' for name, number in _versions())}.")
    page.say(
        "There is deliberately no date here: the same log, command and versions give this page again, byte for byte.",
        soft=True,
    )


def _settings(result: LogResult) -> Iterator[tuple[str, str]]:
    if result.method != "certified":
        yield "method", result.method
    yield "delta", f"{result.delta!r}"
    yield "epsilon", f"{result.epsilon!r}"
    yield "contamination", str(result.options.get("contamination"))
    if result.bounds is not None:
        yield "bounds", f"{result.bounds[0]:g}, {result.bounds[1]:g}"
    else:
        yield "sigma", f"{result.sigma!r}{' (estimated)' if result.sigma_from is not None else ''}"
    for name in ("good_enough", "paired"):
        if result.options.get(name):
            yield name, str(result.options[name])
    if result.sequential:
        yield "sequential", "True"
    if result.health.rows:
        yield "layout of the log", result.health.layout


def _versions() -> Iterator[tuple[str, str]]:
    yield "bestarm", version("bestarm")
    yield "Python", platform.python_version()
    for name in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):  # DuckDB is an extra
            yield name, version(name)


def _fingerprints(result: LogResult, logs: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Return each file with its SHA-256; of standard input there is none."""
    found = [Path(log) for log in logs] or [Path(name) for name in result.health.files if Path(name).is_file()]
    for log in found:
        if str(log) == "-":
            continue
        try:
            with log.open("rb") as stream:
                yield str(log), hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InputError("logs", "be files that can be read", str(log), error.strerror or str(error)) from None


# ---------------------------------------------------------------------------------------------------------- small parts


def _is_near(result: LogResult) -> bool:
    return result.options.get("good_enough") is not None and len(result.candidates) > 1


def _short(label: Label | None, most: int = _MOST_LETTERS) -> str:
    words = str(label)
    return words if len(words) <= most else words[: most - 1] + "…"


def _shortened(sentence: str, result: LogResult) -> str:
    """Return a sentence with very long labels cut off."""
    long = {repr(row.label) for row in result.arms if len(str(row.label)) > _MOST_LETTERS}
    for words in sorted(long, key=lambda each: (-len(each), each)):
        sentence = sentence.replace(words, f"{words[:_MOST_LETTERS]}…{words[-1]}")
    return sentence


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _number(value: float) -> str:
    if value != value:
        return "–"
    return f"{value:.4g}" if abs(value) != float("inf") else ("∞" if value > 0 else "−∞")


def _percent(share: float) -> str:
    return f"{100.0 * share:.4g} %"


def _save(target: Path, content: bytes) -> None:
    try:
        target.write_bytes(content)
    except OSError as error:
        raise InputError("report", "be a file that can be written", str(target), error.strerror or str(error)) from None
