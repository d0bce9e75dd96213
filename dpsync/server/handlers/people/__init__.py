"""Organizations, their members and teams, who comes into them, and the roles that they give."""
