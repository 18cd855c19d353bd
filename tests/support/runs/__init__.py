"""Run folders made by hand or played without a browser."""
