"""What people do with a configuration and a platform, from beginning to end."""
