"""The analyst as a service over HTTP."""
