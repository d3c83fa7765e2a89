"""The words of verdicts: every sentence that a user reads about one is made here, and nowhere else."""
