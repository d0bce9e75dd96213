"""The only writers of text for people and machines: frozen values in, text out. Decides nothing."""
