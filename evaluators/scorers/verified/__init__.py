"""webarena-verified's evaluators over Arena's evidence (ServiceNow/webarena-verified 1.2.3)."""
