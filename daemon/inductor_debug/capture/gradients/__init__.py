"""The stage that holds what a `torch.autograd.Function` calls its derivative against the derivative of its forward.

`function_calls` sees which functions a target calls, `derivatives` computes both on small tensors in float64,
`function_findings` says what came of it. May import what stages may.
"""
