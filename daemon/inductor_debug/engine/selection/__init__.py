"""Which files of a folder are worth running: decided from their text, before any of them runs."""
