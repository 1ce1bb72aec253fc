"""The editor-agnostic core: documents, generations, scheduling, caches and the supervision of workers."""
