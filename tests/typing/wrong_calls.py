"""Wrong calls: `mypy --strict` reports each, as the comment on its line says.

Never executed. Read by tests/typing/test_typing.py.
"""

from __future__ import annotations

import weft
from tests.typing.declared import climb, label, score

score("one")  # E: expected "int"
score()  # E: Missing positional argument "x"
score(1, 2.0, 3)  # E: Too many positional arguments
score(1, scael=2.0)  # E: Unexpected keyword argument "scael"
score(x=1, scale="twice")  # E: expected "float"
score(1, None)  # E: expected "float"
label(3)  # E: expected "Sequence[str]"
label(["a"], True)  # E: Too many positional arguments
label(["a"], upper="yes")  # E: expected "bool"
label(["a"], lower=True)  # E: Unexpected keyword argument "lower"
climb("3")  # E: expected "int"
climb(widht=3)  # E: Unexpected keyword argument "widht"
climb()  # E: Missing positional argument "width"
weft.run(climb, out="runs/x")  # E: expected "SearchCall"
weft.run(score(1), out="runs/x")  # E: expected "SearchCall"
weft.run(climb(3))  # E: Missing named argument "out"
weft.run(climb(3), out="runs/x", worker=2)  # E: Unexpected keyword argument "worker"
words: list[int] = label.function(["a"])  # E: Incompatible types in assignment
