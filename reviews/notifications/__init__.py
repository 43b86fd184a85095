"""Sends reviewers what waits for them: pushes to browsers, emails to people without one."""
