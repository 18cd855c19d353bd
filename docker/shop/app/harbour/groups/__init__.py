"""Groups of customers."""
