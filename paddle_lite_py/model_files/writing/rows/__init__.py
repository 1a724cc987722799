"""How operators of programs are written: a row each."""
