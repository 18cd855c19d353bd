"""The folder of a new site, written from templates that build and pass the site check at once."""
