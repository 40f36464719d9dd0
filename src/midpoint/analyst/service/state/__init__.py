"""What a service knows: the current model, and how reports become part of it."""
