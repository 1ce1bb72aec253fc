"""Ways into a file beside those that it offers by itself: an expression that builds a model, and its main program."""
