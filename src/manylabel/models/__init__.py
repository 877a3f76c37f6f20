"""Models: (X, Y) in, scores out. One method, one file: import a class from there."""
