"""The address of one episode's Chromium: CDP for agents from elsewhere, through a filter."""
