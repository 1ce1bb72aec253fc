"""From a Python file to recordings of ops: targets, model building, and the preview and mock stages."""
