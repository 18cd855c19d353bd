"""Tabs of a session: their wire to the browser, their frames, and the watcher inside them."""
