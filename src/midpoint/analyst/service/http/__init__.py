"""What goes over HTTP: routes, documents, problems, limits."""
