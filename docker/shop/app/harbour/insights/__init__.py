"""The merchant's reports."""
