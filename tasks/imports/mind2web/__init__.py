"""Mind2Web-Live's tasks: key nodes on the live web."""
