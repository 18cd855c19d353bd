"""A new site's folder, written from templates that build and keep the contract at once."""
