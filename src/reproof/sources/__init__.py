"""Crash events: their bytes, from where they are kept (`files`), and what they say (`payload`)."""
