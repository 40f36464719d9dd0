"""The analyst: learns item profiles, says what it must, profiles people, recommends."""
