"""Values that expressions of a project give, by their text, as far as that is certain.

What has an effect, grows large or may hang has no value here.
"""
