"""Jobs: training, comparison and evaluation in processes of their own, in a queue that outlives any process."""
