"""Problems in checked files, described in half a line."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from weft.model.fields import first_problem


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    count: Annotated[int, Field(ge=1, strict=True)] = 1
    name: Annotated[str, Field(min_length=1)]


class Outer(BaseModel):
    rows: Annotated[list[Inner], Field(min_length=1)]

    @model_validator(mode="after")
    def never_two(self) -> Outer:
        if len(self.rows) == 2:
            raise ValueError("two rows are one too many")
        return self


@pytest.mark.parametrize(
    ("raw", "place", "said"),
    [
        ([], "", "must be a table of fields"),
        ({"rows": [3]}, "rows.0", "must be a table of fields"),
        ({"rows": []}, "rows", "must have at least 1 item, not 0"),
        ({"rows": [{}]}, "rows.0.name", "is missing"),
        ({"rows": [{"name": "x", "nme": 1}]}, "rows.0.nme", "unknown field"),
        ({"rows": [{"name": ""}]}, "rows.0.name", "must have at least 1 character"),
        ({"rows": [{"name": "x", "count": "1"}]}, "rows.0.count", "must be a valid integer"),
        ({"rows": [{"name": "x"}] * 2}, "", "two rows are one too many"),
        ({"rows": [{"name": "x", "y" * 500: 1}]}, "rows.0." + "y" * 193, "unknown field"),
    ],
)
def test_problem_is_told_with_its_place(raw: Any, place: str, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(raw)
    assert first_problem(caught.value) == (place, said)
