"""What commands do to the replicas of `arena up`: find, lock, browse."""
