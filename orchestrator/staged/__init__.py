"""Stand-ins for live origins behind TLS, for the demo and for tests; always labelled as staged."""
