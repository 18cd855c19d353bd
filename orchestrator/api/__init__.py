"""Everything that Arena can do, as a Python API; the command line is one of its clients."""
