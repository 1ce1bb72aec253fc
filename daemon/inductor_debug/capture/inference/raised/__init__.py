"""What Python and torch say when a call with guessed inputs fails, read once and handed on as facts."""
