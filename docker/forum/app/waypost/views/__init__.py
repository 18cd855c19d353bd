"""What each page does, one module per part of the site."""
