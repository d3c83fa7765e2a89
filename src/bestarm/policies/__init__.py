"""A method of the user's own: what it has to do, where it is found, and checks of its compiled functions."""
