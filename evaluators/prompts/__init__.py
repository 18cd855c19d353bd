"""The texts that judges are asked with; a changed text is another version, in another file."""
