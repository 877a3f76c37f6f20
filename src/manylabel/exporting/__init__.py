"""Models for other languages and engines: one form (`form`), written in several ways (`targets`)."""
