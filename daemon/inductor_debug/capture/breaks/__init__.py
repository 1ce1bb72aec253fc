"""Graph breaks: from what Dynamo raises to typed facts about the user's expression.

`torch_kinds` knows torch's registry of breaks, `callees` what was being called, `expressions` which part of the source
matters, `facts` puts them together. It listens to nothing (`dynamo_breaks` does), decides no severity and words
nothing (`rules.break_words` does).
"""
