"""`weft prng pipeline`: six steps from draws to a prediction, or to *no signal*.

    request   what decides a run          streams      draws by stream, cuts in time
    window    step 1: sieve and optimizer scorertrial  step 2.5: parameters of the features
    scoring   step 3: 62 features         adapt        step 4: training parameters
    training  step 5: models, folds       nulls        step 5: the same without signal
    vote      step 6: vote, calibration   search       the generator that puts the steps in order

A survivor is a hypothesis as of a *cut*: found in a window before the cut, scored on draws before
the cut, labelled by the block of draws after it. The last cut's block is the holdout; no other
step than the last ones ever sees it.
"""
