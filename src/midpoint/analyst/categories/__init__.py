"""What each category of a private feature does: counted, estimated, shrunken."""
