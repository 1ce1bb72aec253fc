"""What torch.compile and torch.export make of code: facts of findings, and documents about compiling."""
