"""The fault server, and what is asked of our server over it."""
