"""Tests against the real servers of the Seren family, and the small lab that runs them."""
