"""A run whose ideas, changes and reviews come from a model over real HTTP, with a key."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.searches.tree.conftest import Wood
from tests.searches.tree.fakemodel import FakeModel, Reply, served
from weft.searches.tree.agents.__main__ import main
from weft.searches.tree.agents.settings import SettingsInvalid, read_settings

pytestmark = pytest.mark.xdist_group("tree-agents")
KEY = "sk-secret-key-of-the-test"
NEAREST = """FILE: route.py
<<<<<<< SEARCH
    return list(range(len(points)))
=======
    rest, order = set(range(1, len(points))), [0]
    while rest:
        x, y = points[order[-1]]
        best = min(rest, key=lambda i: ((points[i][0] - x) ** 2 + (points[i][1] - y) ** 2, i))
        rest.remove(best)
        order.append(best)
    return order
>>>>>>> REPLACE
"""
SORTED = """```diff
--- a/route.py
+++ b/route.py
@@ -1,5 +1,5 @@
 def route(points: list[tuple[int, int]]) -> list[int]:
     \"\"\"Return the order in which to visit the points, as a list of their indices.\"\"\"
-    return list(range(len(points)))
+    return sorted(range(len(points)), key=lambda i: points[i])
```
"""
IDEAS = "\n".join(
    f"### IDEA: {title}\nTry it.\n"
    for title in ("nearest neighbour", "sort by x", "explain it", "be clever")
)


def answer(prompt: str) -> str:
    """The model's answers: one helps, one is rejected, one does not apply at first."""
    if "Propose" in prompt:
        return IDEAS
    if "Review this change" in prompt:
        good = "sort" not in prompt.split("The change:", maxsplit=1)[0]
        return json.dumps({"approved": good, "feedback": "" if good else "nearest is better"})
    if "could not be applied" in prompt or "nearest neighbour" in prompt:
        return NEAREST
    if "sort by x" in prompt:
        return SORTED
    return NEAREST.replace("list(range", "set(range") if "clever" in prompt else "I explain."


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with served(FakeModel(answer=answer, key=KEY)) as running:
        yield running


def plant(wood: Wood, model: FakeModel, template: str) -> None:
    """Set up as a newcomer does, then configure the server and prices."""
    assert wood.weft("tree", "init", ".", "--template", template).code == 0
    file = wood.folder / "agent.toml"
    text = re.sub(r'url = ".*?"', f'url = "{model.url}"', file.read_text())
    text = text.replace('input_tokens = "0"', 'input_tokens = "2.5"')
    file.write_text(text.replace('output_tokens = "0"', 'output_tokens = "10.125"'))


SETTINGS = ("--set", "max_depth=1", "--set", "max_parallel_evals=2")
RECORDED = [w for s in ("propose", "implement", "review") for w in ("--set", f"{s}.recorded=true")]


@pytest.mark.parametrize("template", ["openai", pytest.param("anthropic", marks=pytest.mark.slow)])
def test_agents_run_against_a_server_keeps_the_key_out_and_is_repeated_offline(
    wood: Wood, model: FakeModel, template: str, monkeypatch: pytest.MonkeyPatch, chaos: bool
) -> None:
    plant(wood, model, template)
    name = f"{template.upper()}_API_KEY"
    refusal = wood.run("first", *SETTINGS)
    assert refusal.code == 3
    assert f"the variable {name} is not set" in refusal.err
    monkeypatch.setenv(name, KEY)
    model.replies = [Reply("busy", 429, {"Retry-After": "0.1"})]
    first = wood.run("first", *SETTINGS, "--json")
    assert first.code == 0, first
    check_verdicts(wood)
    check_costs(wood, first.json, len(model.requests) - 1)
    assert files_with(wood.folder, KEY) == []
    monkeypatch.delenv(name)
    count = len(model.requests)
    offline = (*SETTINGS, *RECORDED, "--set", 'recorded_from="first"', "--json")
    repeated = wood.run("again", *offline)
    assert repeated.json["answer"] == first.json["answer"]
    if chaos:
        assert wood.run("third", *offline).json["head"] == repeated.json["head"]
    assert len(model.requests) == count, "the server is not asked again"
    assert wood.weft("replay", "first").code == 0
    assert wood.weft("verify", "first").code == 0


def check_verdicts(wood: Wood) -> None:
    verdicts = wood.verdicts("first")
    assert verdicts == {
        "n0.1/01-nearest-neighbour.md": "promoted n1",
        "n0.1/02-sort-by-x.md": "review-rejected",
        "n0.1/03-explain-it.md": "same as e1",
        "n0.1/04-be-clever.md": "same as e1",
    }
    by_name = {e.idea.name: e for e in wood.load("first").history.evals}
    assert by_name["n0.1/02-sort-by-x.md"].feedback == "nearest is better"


def check_costs(wood: Wood, told: dict[str, object], requests: int) -> None:
    """Check that all answers cost the same, including those whose edits did not apply."""
    costs = told["costs"]
    assert isinstance(costs, dict)
    assert {stage: c["calls"] for stage, c in costs.items()} == {
        "propose": 1, "implement": 4, "review": 2,
    }  # fmt: skip
    assert sum(c["input_tokens"] for c in costs.values()) == 1000 * requests
    assert costs["propose"]["usd"] == "0.004525"
    assert costs["implement"]["output_tokens"] == 200 * 6
    summary = (wood.folder / "first" / "TREE_SUMMARY.md").read_text()
    assert "| propose | 1 | 0.004525 | 1000 | 200 |" in summary
    assert (
        "cost of implement: 0.00905 USD, 2000 + 400 tokens"
        in wood.weft("tree", "why", "first", "e3").out
    )


def files_with(folder: Path, text: str) -> list[str]:
    return [
        str(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and text.encode() in path.read_bytes()
    ]


def test_answers_of_no_use_fail_with_a_reason_and_a_cost(
    wood: Wood, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(wood, model, "openai")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model.replies = [Reply(IDEAS), Reply("half", ending="length")]
    model.answer = lambda _: "I explain."
    result = wood.run("r", "--set", "max_depth=1", "--json")
    assert result.code == 4
    errors = [e["error"] for e in result.json["evals"]]
    assert {e["type"] for e in errors} == {"implement-failed"}
    messages = [error["message"] for error in errors]  # the first to ask got the truncated answer
    assert messages.count("the answer was cut off at max_output_tokens = 8192") == 1
    others = [n for n, message in enumerate(messages, 1) if "no edit was found" in message]
    assert len(others) == len(messages) - 1
    assert result.json["costs"]["implement"]["calls"] == 4
    assert "no edit was found" in wood.weft("tree", "why", "r", f"e{others[0]}").out


def test_wrong_key_stops_the_run_until_it_is_fixed(
    wood: Wood, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(wood, model, "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-and-secret")
    stopped = wood.run("r", "--set", "max_depth=1")
    assert stopped.code == 130
    assert "HTTP 401" in stopped.err
    assert "sk-wrong-and-secret" not in stopped.err
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert wood.run("r", "--set", "max_depth=1").code == 0
    assert files_with(wood.folder, "sk-wrong-and-secret") == []


def test_server_that_is_down_is_temporary(
    wood: Wood,
    model: FakeModel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plant(wood, model, "openai")
    file = wood.folder / "agent.toml"
    file.write_text(file.read_text().replace("retries = 5", "retries = 0"))
    model.replies = [Reply("down", 503)]
    monkeypatch.setattr("weft.searches.tree.agents.__main__.ENVIRONMENT", {"OPENAI_API_KEY": KEY})
    assert main(["review", "--config", "agent.toml"]) == 75
    assert "HTTP 503" in capsys.readouterr().err
    assert main(["review", "--config", "none.toml"]) == 126


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("retries = 5", "retires = 5", "retires is not a field of it"),
        ("retries = 5", "retries = -1", "retries is below 0"),
        ("retries = 5", "retries = true", "retries is of the wrong type"),
        ("model = ", "# model = ", "model is missing"),
        ('api = "openai"', 'api = "other"', "api is none of openai, anthropic"),
        ("[prompts]", "[prompts]\nreview = 'none.md'", "prompts.review"),
        ('input_tokens = "0"', 'input_tokens = "cheap"', "is not a price"),
        ("url = ", 'url = "file:///etc/passwd" # ', "url is not an address"),
    ],
)
def test_settings_that_are_wrong_are_refused_by_field(
    wood: Wood, old: str, new: str, problem: str
) -> None:
    assert wood.weft("tree", "init", ".").code == 0
    file = wood.folder / "agent.toml"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(SettingsInvalid, match=re.escape(problem)):
        read_settings(file)


def test_settings_that_are_too_long_are_refused_whole(wood: Wood) -> None:
    file = wood.write("agent.toml", "# " + "x" * 2**20)
    with pytest.raises(SettingsInvalid, match="larger than 1,048,576 bytes"):
        read_settings(file)


def test_init_writes_nothing_over_files_that_are_there(wood: Wood) -> None:
    wood.write("d/agent.toml", "mine")
    result = wood.weft("tree", "init", "d")
    assert (result.code, result.out) == (3, "")
    assert "d/agent.toml already exists" in result.err
    assert [p.name for p in (wood.folder / "d").iterdir()] == ["agent.toml"]
    assert wood.weft("tree", "init", "e", "--template", "x").code == 2
