"""Parquet as Spark reads and writes it, and how names of users and items are taken from it."""

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

from midpoint.errors import MidpointError

BLANKS = " \t\n\r\v\f\u00a0"
"""What is taken off around words; Spark by itself takes off spaces only."""


def open_parquet(session: SparkSession, source: str) -> DataFrame:
    """Open Parquet at a path or any Hadoop address; nothing but its columns is read yet."""
    try:
        return session.read.parquet(source)
    except (PySparkException, Py4JJavaError) as error:
        raise MidpointError(
            f"{source} cannot be read as Parquet ({reason(error)}); check the address, that every"
            " worker can reach it, and that Spark has the library for such addresses"
        ) from error


def require_new_address(session: SparkSession, out: str) -> None:
    """Refuse an address that is taken or cannot be written, before all the work for it."""
    context = session.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(out)  # type: ignore[union-attr]  # noqa: SLF001
    try:
        files = path.getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001
        if files.exists(path):
            raise MidpointError(f"--out {out} is there already; name a new directory")
        made = files.mkdirs(path) and files.delete(path, True)  # noqa: FBT003 - Java's
        why = "no directory can be made there"
    except Py4JJavaError as error:
        made, why = False, reason(error)
    if not made:
        raise MidpointError(
            f"--out {out} cannot be written ({why}); check the address and its permissions"
        )


def reason(error: PySparkException | Py4JJavaError) -> str:
    """Return what Java or Spark says in one line, without its stack."""
    said = str(error.java_exception if isinstance(error, Py4JJavaError) else error)
    return said.splitlines()[0]


def named(raw: DataFrame, column: str, where: str) -> Column:
    """Keep whole numbers, which sort by size; take the blanks off words, as in memory."""
    kind = dict(raw.dtypes)[column]
    if kind in {"tinyint", "smallint", "int", "bigint"}:
        return sql.col(column)
    if kind in {"float", "double"}:
        raise MidpointError(
            f"{where}: column {column!r} has numbers with a point; write whole numbers or words"
        )
    return sql.trim(sql.col(column).cast("string"), sql.lit(BLANKS))
