"""KernelDiff: does a backend compute the right numbers, and which expression is to blame if not."""
