"""Emails: one for each person and minute, about all requests that wait for them."""
