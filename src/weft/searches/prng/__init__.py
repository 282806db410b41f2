"""`weft prng`: finds the generator and the seed that produced some draws, and what comes next.

    history    draws as read and checked           family      what a generator is
    hypothesis one way the draws may have arisen   families/   one module per generator
    generate   hypothesis → draws                  statistics  how surprising a match is

Attacks, planner, verdict and pipeline build on these. A search only decides; every number that
costs time is computed in tasks, and all arithmetic on results is done with integers.
"""
