"""The shop a year later, as its staged live origin."""
