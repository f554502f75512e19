"""Fares of a small ferry line."""
