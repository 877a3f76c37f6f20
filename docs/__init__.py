"""The documentation: its pages, and the programs that build the site."""
