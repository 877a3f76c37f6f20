"""Decision rules: scores in, label sets out. One rule, one file, one row in `manylabel.decisions.table`.

This file imports nothing, so that a saved model loads the one rule it has.
"""
