"""From a platform to the configuration that a person would have written for it. Nothing here names a kind."""
