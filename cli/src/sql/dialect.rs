//! What differs between the SQL of the engines: fragments of statements, literals and sources.

use clap::ValueEnum;

use Engine::{Clickhouse, Datafusion, Duckdb, Polars, Spark, Trino};

/// An engine that runs the statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Engine {
    /// DuckDB
    Duckdb,
    /// Apache DataFusion
    Datafusion,
    /// Polars: a Python program around a statement for SQLContext
    Polars,
    /// ClickHouse: server, clickhouse local and chdb
    Clickhouse,
    /// Apache Spark
    Spark,
    /// Trino: checked by a parser, not run
    Trino,
}

/// The fragments of all engines.
const FRAGMENTS: &str = include_str!("fragments.txt");

impl Engine {
    /// The fragment of this name in the engine's dialect. `None` if the table has no such name.
    pub(crate) fn fragment(self, name: &str) -> Option<&'static str> {
        let engine = self.to_possible_value()?;
        let of = |key: String| {
            let (_, rest) = FRAGMENTS.split_once(&format!("\n{key}: "))?;
            // Indented lines continue a text.
            let end = rest.match_indices('\n').find(|(at, _)| !rest[at + 1..].starts_with(' '));
            Some(end.map_or(rest, |(at, _)| &rest[..at]))
        };
        of(format!("{name} {}", engine.get_name())).or_else(|| of(name.to_owned()))
    }

    /// Writes a string literal.
    ///
    /// ClickHouse and Spark interpret backslashes in literals. Spark also substitutes `${name}`
    /// before it parses the statement.
    pub(crate) fn literal(self, text: &str) -> String {
        let text = match self {
            Clickhouse | Spark => text.replace('\\', "\\\\").replace('\'', "\\'"),
            Duckdb | Datafusion | Polars | Trino => text.replace('\'', "''"),
        };
        match self {
            Spark => format!("'{}'", text.replace('$', "\\u0024")),
            _ => format!("'{text}'"),
        }
    }

    /// The expression that reads a table of the dataset in `dir`.
    ///
    /// DataFusion and Trino read tables that a statement has declared, and Polars the frames of its
    /// program.
    pub(crate) fn source(self, dir: Option<&str>, table: &str) -> String {
        let Some(dir) = dir else { return table.to_owned() };
        let files = self.literal(&format!("{dir}/{table}/**/*.parquet"));
        match self {
            Duckdb => format!("read_parquet({files})"),
            Clickhouse if dir.starts_with("s3://") || dir.starts_with("https://") => {
                format!("s3({files}, 'Parquet')")
            }
            Clickhouse => format!("file({files}, 'Parquet')"),
            Spark => format!("parquet.`{dir}/{table}`"),
            Datafusion | Polars | Trino => table.to_owned(),
        }
    }

    /// The statement that declares a table, so that other statements can use its name.
    pub(crate) fn declaration(self, dir: &str, table: &str) -> String {
        let source = self.source(Some(dir), table);
        match self {
            Duckdb | Clickhouse => {
                format!("CREATE OR REPLACE VIEW {table} AS SELECT * FROM {source};\n")
            }
            Spark => {
                format!("CREATE OR REPLACE TEMPORARY VIEW {table} AS SELECT * FROM {source};\n")
            }
            Datafusion => {
                let location = self.literal(&format!("{dir}/{table}/"));
                format!(
                    "CREATE EXTERNAL TABLE IF NOT EXISTS {table} STORED AS PARQUET LOCATION {location};\n"
                )
            }
            Polars => {
                let files = python(&format!("{dir}/{table}/**/*.parquet"));
                format!("{table} = pl.scan_parquet({files}, hive_partitioning=False)\n")
            }
            Trino => trino(dir, table),
        }
    }
}

/// The columns of each table in Trino's types, which it does not read from the files.
const TRINO_TABLES: &str = include_str!("trino_tables.txt");

/// Declares a table of Trino's Hive connector.
fn trino(dir: &str, table: &str) -> String {
    let columns =
        TRINO_TABLES.lines().filter_map(|line| line.strip_prefix(table)?.strip_prefix(": "));
    let columns = columns.collect::<Vec<_>>().join(",\n  ");
    let location = Trino.literal(&format!("{dir}/{table}"));
    format!(
        "CREATE TABLE IF NOT EXISTS {table} (\n  {columns}\n)\nWITH (format = 'PARQUET', external_location = {location});\n"
    )
}

/// Writes a string literal of Python.
pub(crate) fn python(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
