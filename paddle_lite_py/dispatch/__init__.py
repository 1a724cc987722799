"""From a public function to an op with its attributes fixed."""
