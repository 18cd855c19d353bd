"""Tapes: recorded traffic of live hosts, read, written, and replayed offline."""
