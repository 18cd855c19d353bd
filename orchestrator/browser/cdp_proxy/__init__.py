"""A filtered CDP endpoint of one episode's Chromium, for external agents."""
