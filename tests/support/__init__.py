"""What several test folders share; importable as `support`."""
