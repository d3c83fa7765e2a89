"""The engines under an `Identifier`: a compiled method, a user's own policy, or evidence by sources."""
