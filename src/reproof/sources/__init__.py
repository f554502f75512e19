"""Crash events from where they are kept: bytes fetched (`files`, `select`), then read (`payload`)."""
