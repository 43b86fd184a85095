"""The account holder's pages about loops, requests, and whether everything is well."""
