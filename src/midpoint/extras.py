"""Which extra of the package brings a library that a light installation lacks."""

EXTRAS = {
    **dict.fromkeys(("numba", "polars", "scipy"), "analyst"),
    **dict.fromkeys(("pandas", "pyarrow", "pyspark"), "spark"),
    **dict.fromkeys(("lightgbm", "matplotlib", "sklearn", "threadpoolctl"), "audit"),
    **dict.fromkeys(
        ("alembic", "brotli", "fastapi", "prometheus_client", "psycopg", "sqlalchemy", "uvicorn"),
        "service",
    ),
}
"""Extra by library."""


def advice(missing: ModuleNotFoundError) -> str | None:
    """Return a sentence that says what to install; None if no extra brings the library."""
    library = (missing.name or "").split(".")[0]
    if library not in EXTRAS:
        return None
    return f"this needs {library}; install it with: pip install 'midpoint[{EXTRAS[library]}]'"
