"""Which tensors are alive at each statement of the user's code: read off the preview's own run, at no second one.

`lifetimes` and `module_calls` note beside the recorder what only the running process knows. The rest is plain data and
syntax: `activations` cuts the ops into runs of functions and statements (`code` knows the text), `bindings` says which
names hold which tensors, `dim_names` what their dimensions are called, and `timeline` puts it into the form that leaves
the worker. Nothing here judges, and nothing holds a tensor.
"""
