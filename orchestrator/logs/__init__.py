"""The log: what is added to every record, what is kept out of it, and where it is written."""
