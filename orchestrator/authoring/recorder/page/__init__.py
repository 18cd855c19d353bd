"""The recorder's page: a filmstrip of what was done, and the checks made from it."""
