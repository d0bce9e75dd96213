"""Laws of the whole: generated organizations and configurations against the companion, over real HTTP."""
