"""A package, so that its helpers have a name of their own and the ones of the user are found."""
