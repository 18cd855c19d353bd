"""What was changed in a replica since it was golden, row by row and file by file."""
