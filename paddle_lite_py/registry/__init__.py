"""What an op is, and all ops there are."""
