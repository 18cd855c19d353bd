"""JSON Schemas of the files that people write and runs leave, for editors and other programs."""
