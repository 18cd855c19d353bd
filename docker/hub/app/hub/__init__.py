"""Pagure as Arena runs it: one process, no worker, no broker, and looking that writes nothing."""
