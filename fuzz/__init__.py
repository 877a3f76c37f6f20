"""Fuzzers for everything that manylabel reads: files, model files, recipes, rules, texts. `make fuzz` runs them.

A target (`fuzz.targets`) is a function of bytes. Inputs are made from seeds (fuzz/corpus, and files that manylabel
itself writes) by changes that depend on nothing but the target, the seed and the number of the input, so every find can
be made again. An input is refused with one of manylabel's own errors or read; anything else is a find.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))  # model files are forged as the tests forge them
