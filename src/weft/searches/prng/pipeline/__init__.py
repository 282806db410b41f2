"""`weft prng pipeline`: six steps from draws to a prediction, or to *no signal*.

    request   all that decides a run      streams      draws by stream, cuts in time
    window    step 1: sieve and optimizer scorertrial  step 2.5: parameters of the features
    scoring   step 3: 62 features         adapt        step 4: training parameters
    training  step 5: models, folds       nulls        step 5: null reruns
    vote      step 6: vote, calibration   search       the generator that runs the steps in order

A survivor is a hypothesis as of a *cut*: found in a window before the cut, scored on draws before
the cut, labelled by the block of draws after it. The block after the last cut is the holdout, which
only the final evaluation sees.
"""
