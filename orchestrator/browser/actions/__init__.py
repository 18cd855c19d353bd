"""Actions, done as a person would do them."""
