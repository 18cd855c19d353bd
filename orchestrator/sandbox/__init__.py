"""Sites in containers: images, replicas, resets, slots, and the ways into them."""
