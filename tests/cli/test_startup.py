"""What a process loads and compiles: no compiler for --help, and no compilation from the second run on."""

from __future__ import annotations

import subprocess
import sys

COUNT = """
import numba.core.event as event
compiled = []
class Listener(event.Listener):
    def on_start(self, found): compiled.append(found.data["dispatcher"].py_func.__name__)
    def on_end(self, found): pass
event.register("numba:compile", Listener())
import bestarm as ba
bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], 0.1, ba.adversaries.Point(0.0))
for method in ba.METHODS:
    ba.simulate(bandit, method, delta=0.2, trials=2, seed=1, max_pulls=500)
    finder = ba.Identifier(2, delta=0.2, epsilon=0.1, sigma=1.0, method=method)
    stream = bandit.stream(1)
    for _ in range(300):
        if not finder.done:
            arm = finder.ask()
            finder.tell(arm, stream.pull(arm))
    finder.estimates
print(compiled)
"""


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_second_run_compiles_nothing() -> None:
    python(COUNT)
    assert python(COUNT) == "[]"


def test_importing_the_package_does_not_load_the_compiler() -> None:
    assert python("import sys, bestarm; print('numba' in sys.modules, 'scipy' in sys.modules)") == "False False"


def test_help_does_not_load_the_compiler() -> None:
    code = (
        "import sys\nfrom bestarm.cli.app import app\n"
        "names = ['demo', 'reproduce', 'simulate', 'scenario', 'inspect', 'identify', 'plan', 'attack']\n"
        "for words in ([], *([name] for name in names)):\n"
        "    try: app([*words, '--help'])\n"
        "    except SystemExit: pass\n"
        "print('numba' in sys.modules)"
    )
    assert python(code).splitlines()[-1] == "False"


def test_every_public_name_can_be_had() -> None:
    import bestarm as ba

    assert [name for name in ba.__all__ if not hasattr(ba, name)] == []
    assert set(ba.__all__) <= set(dir(ba))
