"""The shop's JSON API."""
