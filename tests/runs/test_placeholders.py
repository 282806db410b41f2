"""The placeholders in a command's templates, and a search's view of a command."""

from __future__ import annotations

import json

import pytest

import weft
from weft.errors import SearchInvalid
from weft.model.templates import ENGINE_NAMES, fill, names_in, texts_of
from weft.worker.command import CommandRun

SHOWS = """
    import json

    def prepare(run):
        return {names}

    @weft.search(version=1)
    def s(words, args, env, cwd, prepared):
        hook = prepare if prepared else None
        call = weft.command(words, args=args, env=env, cwd=cwd, timeout_s=60, prepare=hook)
        [result] = yield [call]
        return [result.args, result.value["stdout"] if result.ok else result.error.type]
"""


def answer(modules, tmp_path, words, args=None, env=None, cwd="{out_dir}", names=None):
    module = modules.write(SHOWS.replace("{names}", repr(names)))
    call = module.s(list(words), args or {}, env or {}, cwd, names is not None)
    return weft.run(call, out=tmp_path / "run", backend="serial", quiet=True).answer


def test_names_of_args_are_put_in_and_are_what_the_search_sees(modules, tmp_path):
    args = {"text": "a b {seed}", "count": 3, "share": 0.5, "is_last": True, "more": [1]}
    words = ["echo", "-n", "{text}|{count}|{share}|{is_last}"]
    assert answer(modules, tmp_path, words, args) == [args, "a b {seed}|3|0.5|true"]


def test_names_of_args_are_put_into_environment_and_folder(modules, tmp_path):
    (tmp_path / "place").mkdir()
    words = ["sh", "-c", 'echo -n "$GREETING $(basename "$PWD") ${GREETING}"']
    args = {"place": str(tmp_path / "place"), "word": "hello"}
    values, printed = answer(modules, tmp_path, words, args, {"GREETING": "{word}"}, "{place}")
    assert (values, printed) == (args, "hello place hello")


def test_names_that_prepare_returns_come_before_args(modules, tmp_path):
    words = ["echo", "-n", "{first} {second}"]
    args = {"first": "1", "second": "2"}
    assert answer(modules, tmp_path, words, args, names={"second": "two"})[1] == "1 two"


def test_name_that_prepare_does_not_return_fails_on_the_slot_and_says_which(
    modules, tmp_path, capfd
):
    module = modules.write(SHOWS.replace("{names}", "{'there': 1}"))
    call = module.s(["echo", "{there} {gone}"], {}, {}, "{out_dir}", True)
    run = weft.run(call, out=tmp_path / "run", backend="serial")
    assert run.answer[1] == "command-broken"
    assert "{gone} in '{there} {gone}' is not defined" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("{{seed}}", "{seed}"),
        ("{}", "{}"),
        ('{"a":{"b":[1]}}', '{"a":{"b":[1]}}'),
        ("{a,b} {print $1} { x } {1} {a.b}", "{a,b} {print $1} { x } {1} {a.b}"),
        ("${HOME} $${x}", "${HOME} $${x}"),
    ],
)
def test_braces_that_are_no_placeholder_stay(modules, tmp_path, text, printed):
    assert answer(modules, tmp_path, ["printf", "%s", text]) == [{}, printed]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"\{nmae\} is not defined; give nmae in args, or write \{\{nmae\}\}.*out_dir"),
        ({"args": {"name": 1}}, r"\{nmae\} is not defined.*name, out_dir"),
        ({"args": {"nmae": [1]}}, r"\{nmae\} is a list in args"),
        ({"args": {"nmae": None}}, r"\{nmae\} is a NoneType in args"),
    ],
)
@pytest.mark.parametrize("place", ["argv", "env", "cwd"])
def test_placeholder_that_stands_for_nothing_is_refused_where_it_is_declared(
    options, message, place
):
    argv = ["echo", "{nmae}"] if place == "argv" else ["echo"]
    more = (
        {"env": {"A": "{nmae}"}} if place == "env" else {"cwd": "{nmae}"} if place == "cwd" else {}
    )
    with pytest.raises(SearchInvalid, match=message) as refusal:
        weft.command(argv, timeout_s=9, **options, **more)
    assert "\n" not in str(refusal.value)


def test_placeholder_that_stands_for_two_things_is_refused():
    with pytest.raises(SearchInvalid, match=r"\{seed\} is in args, but Weft sets it itself"):
        weft.command(["echo", "{seed}"], timeout_s=9, args={"seed": 3})
    weft.command(["echo", "{out_dir}"], timeout_s=9, args={"seed": 3})  # not used: not refused


def test_recorded_form_of_a_command_has_its_templates_as_written():
    call = weft.command(["echo", "{x}"], timeout_s=9, args={"x": 1}, env={"A": "{x}"})
    assert json.loads(json.dumps(call.args)) == {
        "argv": ["echo", "{x}"], "args": {"x": 1}, "prepare": None, "collect": None,
        "env": {"A": "{x}"}, "env_from": [], "cwd": "{out_dir}",
    }  # fmt: skip


def test_engine_names_are_those_of_a_command_run(tmp_path):
    run = CommandRun({}, tmp_path, tmp_path, tmp_path, tmp_path, 1, 2, "local/cpu0")
    assert tuple(sorted(run.names())) == ENGINE_NAMES


def test_fill_leaves_nothing_that_names_in_has_found():
    template = "{a}{{b}}${c}{d}"
    assert names_in([template]) == ("a", "d")
    assert fill(template, {"a": "1", "d": "2"}) == "1{b}${c}2"
    with pytest.raises(KeyError):
        fill(template, {"a": "1"})


def test_literal_prepare_hook_leaves_braces_of_others_as_they_are(modules, tmp_path):
    module = modules.write("""
        @weft.hook(name="lab.prepare", literal=True)
        def prepare(run):
            return {"mine": 1}

        @weft.search(version=1)
        def s():
            words = ["echo", "-n", "{mine} {word} {{word}} {gone}"]
            [result] = yield [
                weft.command(words, timeout_s=60, args={"word": "x"}, prepare=prepare)
            ]
            return result.value["stdout"]
    """)
    run = weft.run(module.s(), out=tmp_path / "run", backend="serial")
    assert run.answer == "1 {word} {{word}} {gone}"


def test_values_that_are_no_text_or_number_cannot_be_put_in():
    assert texts_of({"a": 1, "b": [1], "c": "x", "d": None}) == {"a": "1", "c": "x"}
