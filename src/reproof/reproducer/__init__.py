"""Decides what the test says: same event, tree and environment facts, same bytes.

What is not here: running anything (`sandbox`) and deciding what a run means (`verdict`).
"""
