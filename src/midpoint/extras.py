"""Which extra of the package brings a library that a light installation lacks."""

EXTRAS = {
    **dict.fromkeys(("numba", "polars", "scipy", "threadpoolctl"), "analyst"),
    **dict.fromkeys(("pandas", "pyarrow", "pyspark"), "spark"),
    **dict.fromkeys(("lightgbm", "matplotlib", "sklearn"), "audit"),
    **dict.fromkeys(
        ("alembic", "brotli", "fastapi", "prometheus_client", "psycopg", "sqlalchemy", "uvicorn"),
        "service",
    ),
}
"""Extra by library."""


def explained(name: str, missing: ModuleNotFoundError) -> ModuleNotFoundError:
    """Return the error that says what a name of the package needs; the same if no extra helps."""
    install = advice(missing)
    if install is None:
        return missing
    return ModuleNotFoundError(f"midpoint.{name}: {install}", name=missing.name)


def advice(missing: ModuleNotFoundError) -> str | None:
    """Return a sentence that says what to install; None if no extra brings the library."""
    library = (missing.name or "").split(".")[0]
    if library not in EXTRAS:
        return None
    extra = EXTRAS[library]
    return (
        f"this needs {library}; install it with: pip install 'midpoint[{extra}]',"
        f" in a clone of the repository: pip install '.[{extra}]'"
    )
