"""Find the minimum of a parabola by gradient descent; a stand-in for a training script.

python train.py --rate 0.1            prints its result as the last line
python train.py --rate 0.1 --save F   writes it to the file F instead
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, required=True)
parser.add_argument("--steps", type=int, default=50)
parser.add_argument("--save")
asked = parser.parse_args()

print("[INFO] on GPU", os.environ.get("CUDA_VISIBLE_DEVICES", "none"))
x = 10.0
for _ in range(asked.steps):
    x -= asked.rate * 2 * (x - 3)
time.sleep(0.4)
if abs(x) > 1e6:
    sys.exit("the walk ran away")
result = json.dumps({"rate": asked.rate, "x": round(x, 6)})
if asked.save:
    Path(asked.save).write_text(result)
else:
    print(result)
