"""Few positives against many negatives: weights, under-sampling, over-sampling, and how unequal a corpus is.

All of it works on one label as a two-class problem: which rows of X are positive. `manylabel.strategies.resampled`
applies it label by label.
"""
