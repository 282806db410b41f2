"""Installed products: a problem of one is reported, and everything else works without it.

The packages are real metadata in a folder on the path, as pip would install them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import weft
from tests.support.commands import Told, run_apart
from weft import main, product
from weft.errors import SearchInvalid
from weft.product import Product

PRODUCT = """\
from weft import Product

PRODUCT = Product("{name}", "A test.", app="{module}_cli:app", searches={searches})
"""
APP = """\
import typer

app = typer.Typer()


@app.command()
def go(word: str) -> None:
    print("went", word)
"""
SHIPPED = ["arc", "jobs", "prng", "tree"]
Package = Callable[..., None]


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path of this process, with a fresh lookup of products."""
    folder = tmp_path / "packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    product.installed.cache_clear()
    loaded = set(sys.modules)
    yield folder
    for name in set(sys.modules) - loaded:
        if (folder / f"{name}.py").is_file():
            del sys.modules[name]
    product.installed.cache_clear()


@pytest.fixture
def package(packages: Path) -> Package:
    """Install a package with one entry point, as pip would."""

    def install(
        distribution: str, name: str, source: str | None = None, app: str = APP,
        searches: dict[str, str] | None = None, value: str = "",
    ) -> None:  # fmt: skip
        module = distribution.replace("-", "_")
        text = PRODUCT.format(name=name, module=module, searches=searches or {})
        (packages / f"{module}.py").write_text(text if source is None else source)
        (packages / f"{module}_cli.py").write_text(app)
        info = packages / f"{module}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n"
        )
        entry = f"{name} = {value or f'{module}:PRODUCT'}"
        (info / "entry_points.txt").write_text(f"[weft.searches]\n{entry}\n")

    return install


@pytest.fixture
def command(packages: Path, tmp_path: Path) -> Callable[..., Told]:
    """Run a command in a new process that sees the packages."""
    return lambda *words: run_apart(tmp_path, *words, PYTHONPATH=str(packages))


def skipped() -> dict[str, str]:
    return {skipped.name: str(skipped.error) for skipped in product.installed().skipped}


def names() -> list[str]:
    return [product.name for product in product.products()]


def test_products_that_ship_are_there_and_none_is_skipped(packages: Path) -> None:
    assert [name for name in names() if name in SHIPPED] == SHIPPED
    assert skipped() == {}
    assert weft.Product is Product


def test_single_command_of_a_product_takes_its_own_words(
    package: Package, command: Callable[..., Told]
) -> None:
    package("good-one", "good")
    assert command("good", "on") == Told(0, "went on\n", "")
    command("good").check_one_line(2, "'word'", "weft good --help")


@pytest.mark.parametrize(
    ("source", "value", "reason"),
    [
        ("PRODUCT = 3\n", "", "bad_one:PRODUCT is a int, not a weft.Product"),
        ("import not_there_at_all\n", "", "bad_one:PRODUCT raised ModuleNotFoundError: No module"),
        ("def f(:\n", "", "bad_one:PRODUCT raised SyntaxError"),
        ("raise SystemExit(3)\n", "", "bad_one:PRODUCT raised SystemExit: 3"),
        ("raise ValueError('a\\nb')\n", "", "bad_one:PRODUCT raised ValueError: a b"),
        ("OTHER = 1\n", "", "bad_one:PRODUCT raised AttributeError"),
        ("", "gone_module:PRODUCT", "gone_module:PRODUCT raised ModuleNotFoundError"),
        (PRODUCT.format(name="Bad Name", module="m", searches={}), "", "cannot be a command"),
    ],
)
def test_product_that_cannot_be_loaded_is_skipped_with_its_package_and_reason(
    package: Package, source: str, value: str, reason: str
) -> None:
    package("bad-one", "bad", source, value=value)
    assert names() == SHIPPED
    [line] = skipped().values()
    assert line.startswith("product 'bad' of package bad-one 1.5 is skipped: ")
    assert reason in line
    assert line.endswith("; upgrade it, or pip uninstall bad-one")
    assert line.isprintable()


def test_broken_product_is_refused_when_asked_for_and_breaks_nothing_else(
    package: Package, command: Callable[..., Told], tmp_path: Path
) -> None:
    package("bad-one", "bad", "import not_there_at_all\n")
    package("good-one", "good")
    line = "weft: product 'bad' of package bad-one 1.5 is skipped: "
    command("bad", "x", "--anything").check_one_line(3, line, "not_there_at_all", "pip uninstall")
    (tmp_path / "small.py").write_text(
        "import weft\n@weft.search(version=1)\ndef s():\n    yield []\n    return 1\n"
    )
    for words in (
        ("--help",), ("good", "x"), ("run", "small:s", "--out", "r"), ("verify", "r"),
        ("status", "r"), ("resume", "r"), ("report", "r"),
    ):  # fmt: skip
        result = command(*words)
        assert result.code == 0, result
        assert result.err.splitlines()[0].startswith(line), result
        assert result.err.count("skipped") == 1, result
    assert "bad" not in command("--help").out
    assert command("run", "small:s", "--out", "r", "-q").err == ""


def test_two_packages_with_one_name_are_both_skipped(
    package: Package, command: Callable[..., Told]
) -> None:
    package("one-lab", "lab")
    package("two-lab", "lab")
    package("good-one", "good")
    result = command("lab", "x")
    result.check_one_line(3, "one-lab 1.5", "two-lab 1.5", "'lab'", "uninstall one of the two")
    assert command("good", "x").code == 0
    assert names() == ["arc", "good", "jobs", "prng", "tree"]


@pytest.mark.parametrize(
    ("name", "searches", "shared"),
    [
        ("arc", {}, "arc"),
        ("mine", {"arc.solve": "m:s"}, "arc.solve"),
        ("mine", {"weft.arc.lanes:solve": "m:s"}, "weft.arc.lanes:solve"),
    ],
)
def test_product_that_takes_a_name_of_weft_is_skipped_and_weft_keeps_it(
    package: Package, name: str, searches: dict[str, str], shared: str
) -> None:
    package("thief", name, searches=searches)
    assert names() == SHIPPED
    assert "of package thief 1.5 is skipped: package weft " in skipped()[name]
    assert f"has the name {shared!r} too" in skipped()[name]
    assert product.locate("arc.solve") == "weft.searches.arc.search:solve"


def test_search_names_of_two_products_must_differ(package: Package) -> None:
    package("one-lab", "one", searches={"lab.fit": "m:s"})
    package("two-lab", "two", searches={"lab.fit": "m:s"})
    assert set(skipped()) == {"one", "two"}
    assert product.product_of("lab.fit") is None


def test_product_named_like_a_command_of_weft_keeps_its_searches_but_has_no_command(
    package: Package, command: Callable[..., Told]
) -> None:
    package("lab", "verify", searches={"lab.fit": "lab_cli:s"})
    result = command("verify", "--help")
    assert result.code == 0
    assert "Check that ledger, manifest and objects agree" in result.out
    assert result.err.count("\n") == 1
    assert "the command of product 'verify' (lab_cli:app) is skipped" in result.err
    assert product.locate("lab.fit") == "lab_cli:s"


def test_names_of_own_commands_are_those_that_are_listed() -> None:
    group = main.commands().commands
    own = {name for name, command in group.items() if not isinstance(command, main.ProductGroup)}
    assert set(main.OWN) == own >= {"run", "verify", "nodes"}


@pytest.mark.parametrize(
    ("app", "reason"),
    [
        ("import not_there_at_all\n", "lab_cli:app cannot be imported: ModuleNotFoundError"),
        ("x = 1\n", "lab_cli:app cannot be imported: AttributeError"),
        ("app = 3\n", "lab_cli:app is a int, not a typer.Typer"),
    ],
)
def test_command_that_cannot_be_imported_is_one_line_and_the_help_stands(
    package: Package, command: Callable[..., Told], app: str, reason: str
) -> None:
    package("lab", "lab", app=app)
    command("lab", "x").check_one_line(3, "product lab: ", reason)
    listed = command("--help")
    assert (listed.code, listed.err) == (0, "")
    assert "  lab " in listed.out


@pytest.mark.parametrize("name", ["", "A", "a b", "-a", "ä", "a_b", "x" * 41])
def test_product_name_that_cannot_be_typed_is_refused(name: str) -> None:
    with pytest.raises(SearchInvalid, match="cannot be a command"):
        Product(name, "A test.")


@pytest.mark.parametrize("summary", ["", "a\nb", "a\x1b[0m"])
def test_summary_that_is_not_one_line_is_refused(summary: str) -> None:
    with pytest.raises(SearchInvalid, match="one line of text"):
        Product("lab", summary)


@pytest.mark.parametrize("path", ["module", "module:", ":a", "a b:c", "m:a.b"])
def test_part_that_is_not_an_import_path_is_refused(path: str) -> None:
    with pytest.raises(SearchInvalid, match="is not an import path"):
        Product("lab", "A test.", pages=path)
    with pytest.raises(SearchInvalid, match="is not an import path"):
        Product("lab", "A test.", searches={"lab.fit": path})


# -- the warm-up --------------------------------------------------------------------------------

WARM = """\
import os
from pathlib import Path

import weft

PRODUCT = weft.Product(
    "warm", "A test.", searches={"warm.s": "warm_one:s"}, warm_up="warm_one:warm_up"
)
PLACE = Path(__file__).parent


def warm_up(say):
    if (PLACE / "broken").exists():
        raise OSError("the compiler\\nis gone")
    if not (PLACE / "compiled").exists():
        say("compiling, once")
        (PLACE / "compiled").write_text(str(os.getpid()))


@weft.task(name="warm.work")
def work():
    return int((PLACE / "compiled").read_text()) != os.getpid()


@weft.search(name="warm.s", version=1)
def s():
    results = yield [work()]
    return results[0].value
"""


@pytest.fixture
def warm(package: Package, packages: Path) -> Path:
    """A product with a warm-up, without which its task fails."""
    package("warm-one", "warm", WARM)
    return packages


def test_warm_up_happens_once_before_the_workers_and_is_announced(
    warm: Path, command: Callable[..., Told], tmp_path: Path
) -> None:
    first = command("run", "warm.s", "--out", str(tmp_path / "first"))
    assert (first.code, first.err) == (0, "compiling, once\n")
    assert first.out.startswith("answer  true\n")
    second = command("run", "warm.s", "--out", str(tmp_path / "second"))
    assert (second.code, second.err) == (0, "")
    (warm / "compiled").unlink()
    repeated = command("run", "warm.s", "--out", str(tmp_path / "second"))
    assert (repeated.code, repeated.err) == (0, ""), "a finished run needs none"
    assert not (warm / "compiled").exists()


def test_warm_up_is_silent_when_asked_and_happens_for_a_replay(
    warm: Path, command: Callable[..., Told], tmp_path: Path
) -> None:
    quiet = command("run", "warm.s", "--out", str(tmp_path / "run"), "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    (warm / "compiled").unlink()
    replayed = command("replay", str(tmp_path / "run"))
    assert (replayed.code, replayed.err) == (0, "compiling, once\n")


def test_warm_up_that_raises_is_one_line_and_the_run_can_be_resumed(
    warm: Path, command: Callable[..., Told], tmp_path: Path
) -> None:
    (warm / "broken").touch()
    run = str(tmp_path / "run")
    result = command("run", "warm.s", "--out", run)
    result.check_one_line(3, "product warm: warm_one:warm_up raised OSError: the compiler is gone")
    (warm / "broken").unlink()
    resumed = command("resume", run)
    assert (resumed.code, resumed.err) == (0, "compiling, once\n")


# -- what workers load --------------------------------------------------------------------------

LOADED = """\
from pathlib import Path

import weft

PRODUCT = weft.Product(
    "slow", "A test.", searches={"slow.s": "slow_one:s"}, preload="slow_one:load"
)
loaded = []


def load():
    loaded.append(True)


@weft.task(name="slow.work")
def work():
    return len(loaded)


@weft.search(name="slow.s", version=1)
def s():
    if (Path(__file__).parent / "broken").exists():
        raise ValueError("not today")
    results = yield [work() for _ in range(3)]
    return [result.value for result in results]
"""


def test_resumed_run_forks_workers_from_a_process_that_has_loaded_what_they_need(
    package: Package, packages: Path, command: Callable[..., Told], tmp_path: Path
) -> None:
    package("slow-one", "slow", LOADED)
    (packages / "broken").touch()
    run = str(tmp_path / "run")
    assert command("run", "slow.s", "--out", run).code != 0
    (packages / "broken").unlink()
    assert command("resume", run, "--workers", "2").out.startswith("answer  [1, 1, 1]\n")
