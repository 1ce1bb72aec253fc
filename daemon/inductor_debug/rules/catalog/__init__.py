"""The rules, one class and its page a file. A file added here is a rule added: `rules.registry` finds it."""
