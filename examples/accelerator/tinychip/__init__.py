"""An accelerator that does not exist, as a template: its adapter, and the compiler that this offers."""
