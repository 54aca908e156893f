"""One YAML file a run, and the JSON schema of them all."""
