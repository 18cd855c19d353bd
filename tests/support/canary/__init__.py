"""Plays of references for the tests of the canary."""
