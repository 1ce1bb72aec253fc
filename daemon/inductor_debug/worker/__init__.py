"""The processes that hold torch: the fork server, the spare process, and the job that runs inside them."""
