"""Pages of the site that are made from the program: methods, classes and functions, commands, addresses, settings."""
