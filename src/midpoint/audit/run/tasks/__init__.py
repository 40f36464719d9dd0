"""The work of an audit in small tasks, each kept when it is done, in any order and process."""
