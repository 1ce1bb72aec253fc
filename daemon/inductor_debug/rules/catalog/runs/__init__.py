"""Rules about the run: what kept a file from being analysed or compiled as a whole, one page a rule."""
