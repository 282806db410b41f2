"""Compress the text and give it back. Protected: an idea may not change it or the text."""

import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import codec  # noqa: E402

text = (HERE / "text.txt").read_bytes()
packed = bytes(codec.compress(text))
exact = codec.decompress(packed) == text
result = {"score": len(packed), "rows": {"ok": int(exact), "expected": 1}}
Path(os.environ["WEFT_RESULT_FILE"]).write_text(json.dumps(result))
