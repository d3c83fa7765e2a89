"""The live driver and the loops around it: ask for arms, tell rewards, read the verdict."""
