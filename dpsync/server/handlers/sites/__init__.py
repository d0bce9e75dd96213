"""Sites: their navigation, looks, redirects and visitors. Site spaces are made of `spaces`."""
