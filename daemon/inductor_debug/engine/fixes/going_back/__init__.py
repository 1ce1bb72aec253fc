"""Back to what ran: the pieces of the last text that ran which are others now, each put back by itself."""
