"""People, as tests script them."""
