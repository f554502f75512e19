"""Decides what a run means: pure rules over what was captured and what was seen.

What is not here: running anything. A run's record comes in as `reproof.domain.run.RunRecord`.
"""
