"""How the categories of a private feature differ: counted, estimated, shrunken."""
