"""The artifact store: files that the daemon and scripts leave behind, and how they are found again. Knows no torch."""
