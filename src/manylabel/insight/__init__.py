"""What data and models show about labels: their dependencies, and documents whose labels look wrong."""
