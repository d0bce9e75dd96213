"""Collections, spaces, their pages, change requests, reviews and comments."""
