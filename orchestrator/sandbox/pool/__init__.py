"""Slots of running replicas with logged-in accounts, leased to one episode at a time."""
