"""People at Arena's desk: the control page of a human baseline."""
