"""The use cases as functions: command line, server, notebook and test call the same ones, and each returns a value."""
