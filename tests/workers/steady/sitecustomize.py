"""Sleep without clock_nanosleep: libfaketime 0.9.10 rejects its absolute times on the
monotonic clock, which Python has used for sleeping since 3.11.
"""

import select
import time


def sleep(seconds: float) -> None:
    select.select([], [], [], seconds)


time.sleep = sleep
