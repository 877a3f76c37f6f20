"""Corpora larger than memory: shards on disk, engines that work on them, and what is learned from merged tables."""
