"""A family in one new file: every attack finds it by the forms it declares, none by its name."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

from tests.support.purity import check_pure
from tests.support.shown import ROOT
from weft.searches.prng.families import FAMILIES

PACKAGE = ROOT / "src" / "weft" / "searches" / "prng"
GENERATORS = """
from weft.searches.prng.bit_forms import BitReading, LinearForm
from weft.searches.prng.families.maps import plain_maps
from weft.searches.prng.family import Family
from weft.searches.prng.forms import (
    CompiledSeeding, LatticeForm, LcgForm, LcgSeeding, WordReading,
)

A, C, M40, M32 = 0x5851F42D, 0x3039, (1 << 40) - 1, (1 << 32) - 1
SALT = 0x1234567


def seeding(seed):
    return [(seed ^ SALT) & M40]


def step(state):
    state[0] = (state[0] * A + C) & M40
    return state[0] >> 8


def seed_linear(seed):
    return [seed & M32]


def step_linear(state):
    word = state[0]
    word ^= (word << 7) & M32
    word ^= word >> 1
    word ^= (word << 9) & M32
    state[0] = word
    return word


LCG = Family(
    name="quince", title="made up", word_bits=32, state_words=1, state_word_bits=40,
    seed_bits=32, seeding=seeding, step=step, outputs=plain_maps(step, 32),
    lcg_forms=(LcgForm("quince", "mod", A, C, dropped=8, width=32),),
    lattice_forms=(LatticeForm("high", "span", A, C, 1 << 40),),
    seed_form=LcgSeeding(A, C, 40, scramble=SALT),
    readings={"mod": WordReading("mod"), "high": WordReading("span")},
)
XORSHIFT = Family(
    name="medlar", title="made up", word_bits=32, state_words=1, state_word_bits=32,
    seed_bits=32, seeding=seed_linear, step=step_linear, outputs=plain_maps(step_linear, 32),
    linear=LinearForm(1, {"mod": BitReading("low", 32), "high": BitReading("high", 32)}),
    seed_form=CompiledSeeding(),
)
FAMILIES = (LCG, XORSHIFT)
"""
ATTACKED = """
import json
import sys
from weft import main
from weft.searches.prng.attack import AttackPlan, Case, Units
from weft.searches.prng.attacks import attack_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips

verdicts = {}
for name, family, output, modulus, seed in (
    ("brute", "quince", "mod", 1000, 4711),
    ("brute", "medlar", "mod", 1000, 4711),
    ("lanes", "quince", "mod", 1000, 2**33 + 5),
    ("lattice", "quince", "high", 1000, 2**33 + 5),
    ("linear-exact", "medlar", "mod", 1000, 2**31 + 5),
    ("linear-words", "medlar", "high", 1000, 2**31 + 5),
    ("likely", "medlar", "high", 1000, 12345),
):
    skips = Skips.constant(2)
    truth = Hypothesis(family, output, modulus, seed=seed, skips=skips, start=3)
    stream = generate(truth, 300)
    case = Case(tuple(stream[:200]), modulus, (2, 3), (3, 3), corrupt_percent=0)
    attack = attack_named(name)
    plans = [plan for plan in attack.plan(case) if (plan.family, plan.output) == (family, output)]
    assert plans and isinstance(plans[0], AttackPlan), (name, family, output, plans)
    units = Units(0, plans[0].units if name == "likely" else 1)
    matches = attack.run(case, plans[0], units)
    predicted = [generate(match.hypothesis, 300) == stream for match in matches]
    verdicts[f"{name} {family} {output}"] = predicted
print(json.dumps(verdicts))
sys.exit(main._exit_code(["prng", "families", "--json"]))
"""


def in_package(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process that takes the files of a folder as families of the package.

    The kernels that all families share are compiled once for all tests; a copy of the package
    with a separate cache would compile them again, which takes minutes.
    """
    words = (
        "import importlib.util, sys",
        "spec = importlib.util.find_spec('weft.searches.prng.families')",
        f"spec.submodule_search_locations.append({str(folder)!r})",
        "package = importlib.util.module_from_spec(spec)",
        "sys.modules[spec.name] = package",
        "spec.loader.exec_module(package)",
    )
    code = [sys.executable, "-c", "\n".join([*words, program])]
    return subprocess.run(code, capture_output=True, text=True, check=False)


def test_family_in_one_new_file_is_attacked_by_all_that_its_forms_allow(tmp_path: Path) -> None:
    (tmp_path / "orchard.py").write_text(GENERATORS, "utf-8")
    child = in_package(tmp_path, ATTACKED)
    assert child.returncode == 0, child.stderr
    output, listed = child.stdout.split("\n", 1)
    verdicts = json.loads(output)
    assert len(verdicts) == 7
    assert all(predicted and all(predicted) for predicted in verdicts.values()), verdicts
    names = {family["name"] for family in json.loads(listed)["families"]}
    assert {"quince", "medlar"} <= names


def test_no_attack_kernel_or_plan_goes_by_the_name_of_a_family() -> None:
    names = {name for family in FAMILIES for name in (family.name, *family.aliases)}
    modules = [*(PACKAGE / "attacks").glob("*.py"), *(PACKAGE / "kernels").glob("*.py")]
    modules += [PACKAGE / name for name in ("planning.py", "forms.py", "bit_forms.py", "family.py")]
    assert len(modules) > 30
    literals = [
        f"{module.name}:{node.lineno}: {node.value!r}"
        for module in modules
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert literals == []


def test_no_attack_kernel_or_plan_imports_a_family() -> None:
    modules = [*(PACKAGE / "attacks").glob("*.py"), *(PACKAGE / "kernels").glob("*.py")]
    imports = [
        f"{module.name}: {node.module}"
        for module in [*modules, PACKAGE / "planning.py"]
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and str(node.module).startswith("weft.searches.prng.families.")
    ]
    assert imports == []


def test_families_depend_on_their_arguments_only() -> None:
    modules = [path for path in (PACKAGE / "families").glob("*.py") if path.stem != "__init__"]
    assert len(modules) > 10
    assert [m.name for m in modules if check_pure(m.read_text("utf-8"))] == []
