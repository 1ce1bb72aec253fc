"""Single mistakes planted into classes, put to the tool as a user's files: how many it finds."""
