"""manylabel against its peers: the same work, the same results, in alternation. `make bench` runs it."""
