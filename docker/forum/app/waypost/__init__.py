"""Waypost: forums with submissions, nested comments, votes, messages and moderators."""
