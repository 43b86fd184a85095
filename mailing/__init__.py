"""Queues emails: web requests insert them, and a worker hands them to the mail server."""
