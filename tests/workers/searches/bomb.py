"""`bomb.py DEPTH WIDTH`: a tree of processes, each in its own session, that never end."""

import os
import sys
import time

depth, width = int(sys.argv[1]), int(sys.argv[2])
while depth:
    depth -= 1
    for _ in range(width):
        if os.fork() == 0:
            os.setsid()
            break
    else:
        break
while True:
    time.sleep(1000)
