"""Telling reviewers: Web Push to their devices, e-mail to who has none."""
