"""What commands may have to say of a cluster. Apart, so that it can be caught where no Dask is installed."""

from __future__ import annotations


class ClusterError(Exception):
    """There is no cluster to work with, or none any more; the message says why."""
