"""Sites and replicas that tests play on."""
