"""What users write, read with positions: YAML files → nodes → composed, checked sources."""
