//! `export --to arrow`: the rows of the text, read by the crate `arrow-ipc`.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_ipc::root_as_footer;
use serde_json::json;

use crate::*;

/// Reads the Arrow files of a table.
fn batches(room: &Path, table: &str) -> Vec<RecordBatch> {
    let folder = room.join(table);
    let names = files(&folder).into_iter();
    let open =
        |name| FileReader::try_new(fs::File::open(folder.join(name)).unwrap(), None).unwrap();
    names.flat_map(open).map(Result::unwrap).collect()
}

/// The value of a row as `--to ndjson` writes it.
fn value(array: &dyn Array, row: usize) -> Value {
    use arrow_array::types::ArrowPrimitiveType;
    fn int<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
        array.as_primitive::<T>().value(row)
    }
    fn list(items: &dyn Array) -> Value {
        (0..items.len()).map(|item| value(items, item)).collect()
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    if array.is_null(row) {
        return Value::Null;
    }
    let any = array.as_any();
    if let Some(map) = array.as_map_opt() {
        let pairs = map.value(row);
        let of = |column: usize, at| value(pairs.column(column), at).as_str().unwrap().to_owned();
        return (0..pairs.len()).map(|at| (of(0, at), json!(of(1, at)))).collect();
    }
    match () {
        () if any.is::<arrow_array::StringArray>() => json!(array.as_string::<i32>().value(row)),
        () if any.is::<arrow_array::BinaryArray>() => {
            json!(hex(array.as_binary::<i32>().value(row)))
        }
        () if any.is::<arrow_array::ListArray>() => list(&array.as_list::<i32>().value(row)),
        () if any.is::<arrow_array::BooleanArray>() => json!(array.as_boolean().value(row)),
        () if any.is::<arrow_array::FixedSizeBinaryArray>() => {
            json!(hex(array.as_fixed_size_binary().value(row)))
        }
        () if any.is::<arrow_array::Int32Array>() => json!(int::<Int32Type>(array, row)),
        () if any.is::<arrow_array::Int64Array>() => json!(int::<Int64Type>(array, row)),
        () if any.is::<arrow_array::UInt64Array>() => json!(int::<UInt64Type>(array, row)),
        () => {
            let micros = int::<TimestampMicrosecondType>(array, row);
            json!(jiff::Timestamp::from_microsecond(micros).unwrap().to_string())
        }
    }
}

/// The rows of a table in Arrow files, as `--to ndjson` writes them.
fn rows(room: &Path, table: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    for batch in batches(room, table) {
        let schema = batch.schema();
        let row = |row| {
            let columns = schema.fields().iter().zip(batch.columns());
            columns.map(|(field, array)| (field.name().clone(), value(array, row))).collect()
        };
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows
}

#[test]
fn arrow_has_the_rows_of_the_text() {
    let room = room("tables-arrow");
    for name in PPROFS.iter().chain(&["otlp-1.11-aggregated-memory.binpb"]) {
        copy(name, &room.join("in").join(name));
    }
    copy("otlp-1.11-timestamped-cpu-offcpu.binpb", &room.join("in/timestamped.binpb"));
    for partition in ["none", "service,date"] {
        for to in ["arrow", "ndjson"] {
            let to = format!("--to {to} -o {to}-{partition}");
            run(&room, &format!("export in {to} --partition {partition}"), 0);
        }
        for table in ["samples", "profiles", "stacks", "mappings"] {
            let text = room.join(format!("ndjson-{partition}")).join(table);
            let text: String = files(&text)
                .iter()
                .map(|name| fs::read_to_string(text.join(name)).unwrap())
                .collect();
            let expected = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let found = rows(&room.join(format!("arrow-{partition}")), table);
            assert!(found.len() > 5 || table == "mappings", "{table}");
            for (found, expected) in found.iter().zip(expected.clone()) {
                assert_eq!(*found, expected, "{table}");
            }
            assert_eq!(found.len(), expected.count(), "{table}");
        }
    }
}

#[test]
fn arrow_files_are_deterministic_and_for_engines() {
    let room = room("tables-arrow-bytes");
    copy(PPROFS[0], &room.join("a.pb.gz"));
    let bytes = |folder: &str| -> Vec<(String, Vec<u8>)> {
        let read = |name: String| (name.clone(), fs::read(room.join(folder).join(name)).unwrap());
        files(&room.join(folder)).into_iter().map(read).collect()
    };
    run(&room, "export a.pb.gz --to arrow -o one", 0);
    run(&room, "export a.pb.gz --to arrow -o other", 0);
    assert!(bytes("one").len() == 4 && bytes("one") == bytes("other"));
    for (name, bytes) in bytes("one") {
        assert!(name.ends_with(".arrow") && bytes.starts_with(b"ARROW1\0\0"), "{name}");
        // The footer, then its length, then the magic bytes. Buffers are aligned for mapping into memory.
        let (rest, length) = bytes[..bytes.len() - 6].split_last_chunk::<4>().unwrap();
        let footer = &rest[rest.len() - u32::from_le_bytes(*length) as usize..];
        let blocks = root_as_footer(footer).unwrap().recordBatches().unwrap();
        assert!(blocks.iter().all(|block| block.offset() % 64 == 0));
    }
    let file = fs::File::open(room.join("one").join(&bytes("one")[0].0)).unwrap();
    let schema = FileReader::try_new(file, None).unwrap().schema();
    assert_eq!(schema.metadata().get("otlp_profiles.schema").map(|text| &**text), Some("1"));
    // A run with the same inputs is a second run, whatever the format.
    says(&run(&room, "export a.pb.gz -o one", 4), "--force replaces");
    says(&run(&room, "import one -o x.otlp", 3), "Arrow, NDJSON and CSV are for other programs");
    says(&run(&room, "export one -o x", 3), "has no Parquet file");
    run(&room, "export a.pb.gz -o one --force", 0);
    assert!(bytes("one").iter().all(|(name, _)| name.ends_with(".parquet")));
}

#[test]
fn arrow_files_have_every_row_of_large_inputs() {
    const ROWS: usize = 200_000;
    let room = room("tables-arrow-large");
    let lines: String =
        (0..ROWS).map(|row| format!("main;f{};g{row} {row}\n", row % 317)).collect();
    fs::write(room.join("large.folded"), lines).unwrap();
    run(&room, "export large.folded --to arrow -o d", 0);
    let count = |table| batches(&room.join("d"), table).iter().map(RecordBatch::num_rows).sum();
    let (samples, stacks): (usize, usize) = (count("samples"), count("stacks"));
    assert_eq!((samples, stacks), (ROWS, ROWS));
    let batches = batches(&room.join("d"), "samples");
    assert_eq!(batches.len(), 2, "131,072 rows are a batch");
    let sum = |batch: &RecordBatch| -> i64 {
        let values = batch.column_by_name("value").unwrap();
        values.as_primitive::<Int64Type>().values().iter().sum()
    };
    let expected = (0..ROWS as i64).sum::<i64>();
    assert_eq!(batches.iter().map(sum).sum::<i64>(), expected);
}
