"""The live page shows a run that stores notebook code, and never imports that code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import weft
from tests.inspect.serve.conftest import Server
from tests.support.cells import marked


def test_live_page_never_imports_stored_code(
    tmp_path: Path, serving: Callable[[Path], Server]
) -> None:
    mark = tmp_path / "mark"
    run = weft.run(marked(mark), out=tmp_path / "runs" / "run")
    before = mark.read_text()
    assert before
    server = serving(tmp_path / "runs")
    identity = server.id_of("run")
    for page, text in (("/", "0, 2, 4"), (f"/run/{identity}", run.search)):
        answer = server.get(page)
        assert answer.status == 200
        assert text in answer.body
    assert mark.read_text() == before
