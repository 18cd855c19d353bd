"""Finished runs and studies: statistics, figures, reports."""
