"""Few positives against many negatives: weights, under-sampling, over-sampling, and the imbalance of a corpus.

`samplers` and `clusters` work on one label as a two-class problem: which rows of X are positive.
`manylabel.strategies.resampled` applies them label by label. `imbalance` computes statistics of Y.
"""
