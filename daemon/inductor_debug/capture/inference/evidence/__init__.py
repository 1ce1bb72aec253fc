"""What a project says of its constructors' arguments elsewhere than in its code."""
