"""Where agents go: site manifests, logical URLs, and the one tree of errors."""
