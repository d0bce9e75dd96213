"""The way to the platform: auth, deadlines, retries, rate limits, pages. One client only reads."""
