"""Runs the output of `otlp-profiles sql` in each engine, and returns rows in one form."""

import contextlib
import datetime
import decimal
import io
import json


def plain(value):
    """A value of any engine as int, float, str, None, or datetime in UTC without a zone."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == int(value) else float(value)
    if isinstance(value, datetime.datetime):
        value = getattr(value, "to_pydatetime", lambda: value)()
        if value.tzinfo:
            value = value.astimezone(datetime.timezone.utc)
        return value.replace(tzinfo=None)
    if isinstance(value, float) and value != value:
        return None
    return value


def statements(text):
    """Divides a script into its declarations, which are one line each, and its last statement."""
    lines = text.splitlines(keepends=True)
    count = sum(1 for line in lines if line.startswith("CREATE "))
    return lines[:count] + ["".join(lines[count:])]


class DuckDb:
    def __init__(self):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 2")

    def run(self, text):
        cursor = self.connection.execute(text)
        return [column[0] for column in cursor.description], cursor.fetchall()


class DataFusion:
    def __init__(self):
        from datafusion import SessionConfig, SessionContext

        self.new = lambda: SessionContext(SessionConfig().with_target_partitions(2))

    def run(self, text):
        context = self.new()
        *declarations, query = statements(text)
        for declaration in declarations:
            context.sql(declaration)
        frame = context.sql(query)
        table = frame.to_arrow_table()
        return table.column_names, list(zip(*(column.to_pylist() for column in table.columns)))


class Polars:
    def run(self, text):
        names = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, "sql --engine polars", "exec"), names)
        result = names["result"]
        return result.columns, result.rows()


class ClickHouse:
    def __init__(self):
        import chdb

        self.query = chdb.query

    def run(self, text):
        result = json.loads(str(self.query(text, "JSONCompact")))
        types = [column["type"] for column in result["meta"]]
        rows = [tuple(map(self.value, types, row)) for row in result["data"]]
        return [column["name"] for column in result["meta"]], rows

    @staticmethod
    def value(kind, value):
        if value is not None and "DateTime64" in kind:
            return datetime.datetime.fromisoformat(value[:26])
        return int(value) if value is not None and "Int" in kind else value


class Spark:
    def __init__(self):
        import os
        import time
        from pyspark.sql import SparkSession

        os.environ["TZ"] = "UTC"
        time.tzset()
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.session.timeZone", "UTC")
        builder = builder.config("spark.sql.shuffle.partitions", "2")
        self.session = builder.config("spark.log.level", "OFF").getOrCreate()

    def run(self, text):
        frame = self.session.sql(text.rstrip().rstrip(";"))
        return frame.columns, [tuple(row) for row in frame.collect()]


ENGINES = {
    "duckdb": DuckDb,
    "datafusion": DataFusion,
    "polars": Polars,
    "clickhouse": ClickHouse,
    "spark": Spark,
}


def answer(engine, text):
    """Column names and rows of a statement."""
    names, rows = engine.run(text)
    return list(names), [tuple(plain(value) for value in row) for row in rows]
