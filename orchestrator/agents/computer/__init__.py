"""Looks at pictures and names places in them, in the vocabularies of computer use."""
