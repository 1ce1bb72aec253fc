"""What is told of the tensors at one line, from the timelines that runs have left: no worker is asked, nothing runs.

`lookup` finds the run of the line that is meant, `moment` which tensors are alive then, `rows` describes them, and
`line` puts the document together. Findings are none of its business.
"""
