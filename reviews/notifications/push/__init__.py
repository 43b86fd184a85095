"""Pushes: Web Push messages to the browsers that reviewers have registered."""
