"""What people look at: pictures, and the render modes of environments."""
