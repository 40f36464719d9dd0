"""All that computes with the secret: her category, her ratings, her key and the coins from it.

What asks her for the category (`agent/device`, the command `answer`) wraps it in a
`PrivateCategory`, and only this package looks inside one. Two modules outside store the secret and
compute nothing from it: `agent/home` keeps the category if she asks for that, and `device_files`
writes the files of this package.
"""
