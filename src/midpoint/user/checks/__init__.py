"""What a device refuses."""
