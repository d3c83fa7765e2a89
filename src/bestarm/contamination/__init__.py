"""What epsilon means: one class per contamination model."""
