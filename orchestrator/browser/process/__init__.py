"""Chromium as a process: found, started, isolated, ended."""
