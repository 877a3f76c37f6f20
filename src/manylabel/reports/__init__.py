"""Results made readable: a neutral page of headings, notes and tables, then text, TSV or (in the CLI) colour."""
