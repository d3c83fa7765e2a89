"""What an `Identifier` drives: a compiled method, a policy of the user's own, or evidence by sources."""
