"""Find the best method for a corpus: candidates, the race between them, the leaderboard, tuning."""
