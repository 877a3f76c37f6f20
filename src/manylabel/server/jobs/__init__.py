"""Jobs: training, comparison, evaluation and audit in processes of their own, in a queue that outlives any process."""
