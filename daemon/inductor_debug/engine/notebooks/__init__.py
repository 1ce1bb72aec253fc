"""What counts of an open notebook, whose cells people run one by one and again. Imports `source/notebooks` alone."""
