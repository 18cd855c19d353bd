"""Access to sites as a program: HTTP under their own names, logins, forms, APIs, queries."""
