"""The configuration in an editor, by the language server that editors use for YAML."""
