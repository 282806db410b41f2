"""Law: `from_json` inverts `to_json`, even after values have passed through the ledger's text."""

from __future__ import annotations

from typing import Any

import pytest

from weft.model.codec import from_json, to_json
from weft.model.values import decode, encode
from weft.searches.prng.answer import (
    SIGNAL,
    AnalyseAnswer,
    Coverage,
    ScoredCandidate,
    StreamCandidate,
)
from weft.searches.prng.attack import AttackPlan, Gap
from weft.searches.prng.attacks.detectors import Detection
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.origins import SeedOrigin
from weft.searches.prng.pipeline.adapt import TrainingParams
from weft.searches.prng.pipeline.optimizer import Trial
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import PipelineRequest
from weft.searches.prng.pipeline.streams import split_history
from weft.searches.prng.pipeline.training import FoldScore, ModelChoice, ModelTrial, Preflight
from weft.searches.prng.pipeline.verdict import Claim, PipelineVerdict, Power, Reruns, Sidecar
from weft.searches.prng.pipeline.vote import PoolHits, StreamPrediction, Voter
from weft.searches.prng.pipeline.window import TrialJudgement, WindowParams
from weft.searches.prng.planning import StreamPlan
from weft.searches.prng.request import AnalyseRequest, ExcludedPart
from weft.searches.prng.scoring import MatchScore

SEEDED = Hypothesis("java", "bounded", 1000, seed=2**63, skips=Skips((0, 2), (1, 0, 2)), start=4)
STATE = Hypothesis("v8", "scaled", 6, state=bytes(range(20)).hex())
PLAN = AttackPlan("brute", "java", "bounded", 4096, 64, 2**70, 350, "all 2^32 seeds")
SCORED = ScoredCandidate(
    "evening", SEEDED, 2**64, MatchScore(400, 400, 9_000, 99, 100, 8_000), (5, 7), 9, 10,
    (SeedOrigin(42, 17, "typed"),), ("drand48.high",),
)  # fmt: skip
(COVERAGE,) = Coverage.of(StreamPlan("", PLAN, 8), 12)
CLAIM = Claim("a", 7, 0, -3, 30, 40, 60, 84, 50_000, 90_000, "1e-50", "1e-90", True)
VERDICT = PipelineVerdict(
    True,
    "held",
    (CLAIM,),
    Reruns.of(41, (0, 2), 84),
    Power("java", 10, "6 of 40", "other families"),
)
CHOICE = ModelChoice("neural_net", {"width": 16, "alpha": 0.5, "layers": [16, 8]}, ("pred_mean",))
RECORDED = (
    SEEDED,
    STATE,
    PLAN,
    Gap("lanes", "java", "bounded", "needs 8 draws"),
    AnalyseRequest(
        1000,
        ("java",),
        ("mod",),
        (0, 5),
        (1, 9),
        3,
        4000,
        5_000,
        False,
        7,
        "head",
        (ExcludedPart("", "brute", "java", "mod", "all 2^32 seeds", 4096, 12),),
    ),
    AnalyseRequest(6),
    StreamPlan("evening", PLAN, 64),
    StreamCandidate("evening", SEEDED, 2**64),
    SCORED,
    COVERAGE,
    Detection("period", "the draws repeat", 9_000),
    AnalyseAnswer(
        SIGNAL,
        1000,
        (SCORED,),
        (Detection("period", "again", 1),),
        (COVERAGE,),
        (),
        (COVERAGE,),
        (Gap("brute", "go", "mod", "too far"),),
    ),
    SCORED.score,
    PipelineRequest(modulus=6, seeds=(3, 9), top_k=7),
    TrainingParams(200, (16, 8), 240, 40, 3, 2, 3),
    Trial({"x": 1, "rate": 0.25, "kind": "far"}, -1_000, "evidence"),
    ScorerConfig(5, 60, 700, 3, 100),
    split_history([1, 2] * 200, ["x", "y"] * 200, 1000),
    WindowParams(40, 3, "each", 0, 2, 6, 7),
    TrialJudgement(9, 8, 7, 6, 2**60, ((1, 2, 3, 4), (0, 0, 0, 0))),
    Preflight(("pred_mean",), ("skip_min",), 40, ()),
    FoldScore(990, 100_000, 900_000),
    CLAIM,
    Reruns.of(41, (0, 2), 84),
    VERDICT,
    VERDICT.power,
    ModelTrial("lightgbm", {"trees": 10, "learning_rate": 0.1}, 900, 400, True),
    CHOICE,
    Sidecar.of(VERDICT, None, CHOICE, {"train": 3}, {"draws": "ab"}, {"numpy": "2"}),
    Sidecar.of(VERDICT, None, None, {}, {}, {}),
    StreamPrediction(
        "a",
        SEEDED,
        3,
        9_000,
        (1, 2),
        ({"20": (1, 2)},),
        (PoolHits(20, 3, 5, 100, (20, 1000)),),
        (Voter(7, 0, -3),),
    ),
)


@pytest.mark.parametrize("value", RECORDED, ids=lambda value: type(value).__name__)
def test_recorded_form_of_a_value_gives_the_same_value_back(value: Any) -> None:
    assert from_json(type(value), decode(encode(to_json(value)))) == value
