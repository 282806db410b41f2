"""The page of PRNG figures keeps the figures that a run of one benchmark does not measure."""

from __future__ import annotations

from benchmarks import prng, prngrivals

PAGE = f"""\
# Figures

measured today

{prngrivals.HEADING}

a table of before

## Histories of real runtimes

what campaigns found
"""


def test_new_figures_keep_the_sections_after_those_of_rivals() -> None:
    page = prngrivals.with_section("# Figures\n\nmeasured again\n", PAGE)
    assert page.startswith("# Figures\n\nmeasured again\n")
    assert "a table of before" not in page
    assert page.endswith("\n## Histories of real runtimes\n\nwhat campaigns found\n")


def test_section_of_rivals_is_replaced_alone() -> None:
    page = prngrivals.with_section(PAGE)
    assert page.startswith("# Figures\n\nmeasured today\n")
    assert page.count(prngrivals.HEADING) == 1
    assert page.endswith("what campaigns found\n")


def test_histories_of_the_benchmark_are_there() -> None:
    assert prng.history("java")
