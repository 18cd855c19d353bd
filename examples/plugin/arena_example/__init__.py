"""An agent, a matcher and an exporter for Arena."""
