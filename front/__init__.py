"""The web server: an event loop that reads requests and writes responses, and threads that run
Django's synchronous handler on complete requests."""
