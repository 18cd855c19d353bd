"""What stands before Tryton: a login page whose cookie the web client shares."""
