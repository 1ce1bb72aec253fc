"""Plants single mistakes into source text, one family a module. Nothing is run here."""
