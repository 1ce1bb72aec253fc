"""What goes wrong around a daemon: disks that are full, clocks that are set, interpreters that are gone."""
