"""Rules about what is around a model: settings, its interpreter, files, an accelerator's adapter; one page a rule."""
