"""Which method is best for some documents: candidates, the race between them, and what it shows."""
