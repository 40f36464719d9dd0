"""A Spark session that logs little, uses this Python, and explains what is missing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from midpoint.analyst.engines.spark.tables import reason
from midpoint.analyst.kernels.compilation import usable_cores
from midpoint.errors import MidpointError

LEAST_JAVA = 17
"""What Spark 4 runs on."""
SHARE = 0.4
"""Share of memory that Java gets on a local master; Python workers need the rest."""
STACK = "-Xss16m"
"""What each of Java's threads gets: MLlib's tasks know all iterations before them, one in the
other, and reading a dozen already overflows the usual 1 MB."""
QUIET = Path(__file__).with_name("log4j2.properties")


def open_session(master: str | None = None, **settings: str) -> SparkSession:
    """Start Spark, or join the session that runs already, whose settings stay as they are.

    Args:
        master: Where to run, such as local[4], spark://host:7077 or yarn. Unless given it is what
            spark-submit names, and without spark-submit all cores of this machine.
        settings: Spark's own settings, with `_` for `.`, such as executor_memory="8g"; they go
            before those chosen here.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    require_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ  # its settings are in force already
    where = master or (None if submitted else "local[*]")
    wanted: dict[str, bool | float | int | str | None] = {
        "spark.app.name": "midpoint",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(2**16),
        "spark.driver.extraJavaOptions": f"{STACK} -Dlog4j2.configurationFile={QUIET.as_uri()}",
    }
    if not submitted:  # what spark-submit says of executors is not for us to replace
        wanted["spark.executor.extraJavaOptions"] = STACK
    if where is not None and where.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        wanted["spark.sql.shuffle.partitions"] = str(2 * usable_cores())
        wanted["spark.driver.memory"] = f"{_megabytes(SHARE)}m"
    wanted |= {f"spark.{name.replace('_', '.')}": value for name, value in settings.items()}
    builder = SparkSession.builder.config(map=wanted)
    try:
        session = (builder if where is None else builder.master(where)).getOrCreate()
    except (PySparkException, Py4JJavaError) as error:
        raise MidpointError(
            f"Spark does not start on {where or 'what spark-submit names'} ({reason(error)}); name"
            " a master that is there, such as local[4], spark://host:7077 or yarn"
        ) from error
    session.sparkContext.setLogLevel("ERROR")
    return session


def require_java() -> None:
    """Refuse a machine without a Java that Spark runs on, and say what to install."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    remedy = (
        f"install Java {LEAST_JAVA} or newer (apt install openjdk-17-jre-headless, brew install"
        " openjdk@17), or set JAVA_HOME to one"
    )
    if java is None:
        where = f"in JAVA_HOME={home}" if home else "on this machine"
        raise MidpointError(f"Spark needs Java, and there is none {where}; {remedy}")
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S603
    number = re.search(r'version "(?:1\.)?(\d+)', output)
    if number is None or int(number[1]) < LEAST_JAVA:
        version = f"version {number[1]}" if number else "of no known version"
        raise MidpointError(f"{java} is {version}, too old for Spark; {remedy}")


def _megabytes(share: float) -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1024, int(share * total / 2**20))
