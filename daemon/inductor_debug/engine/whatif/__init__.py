"""What would be, told from a capture that is at hand: on another accelerator. Nothing here runs user code."""
