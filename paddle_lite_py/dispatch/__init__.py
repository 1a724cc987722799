"""From a public function to an op that runs: how ops are defined, called and found again."""
