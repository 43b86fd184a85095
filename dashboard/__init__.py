"""The account holder's pages: overview, loops, requests, deliveries, keys, secret and audit log."""
