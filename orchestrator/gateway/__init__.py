"""The forward proxy a browser context is bound to: routes, refuses, paces, counts writes."""
