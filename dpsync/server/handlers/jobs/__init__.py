"""What a request starts and a job goes on with: specifications, translations, analysis of conversations."""
