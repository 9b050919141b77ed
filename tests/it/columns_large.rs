//! Tables of large inputs: memory follows the content.
#![cfg(all(feature = "arrow", feature = "parquet"))]

use std::fs::{self, File};
use std::path::Path;

use otlp_profiles::builder::{NewLocation, NewMapping, WhenFull, leaf_first, root_first};
use otlp_profiles::columns::{
    PageCompression, Segment, SegmentOptions, Table, TableFormat, record_batches, tables,
    write_part,
};
use otlp_profiles::{Builder, ErrorKind, Limits, Profiles, Result};

use crate::support::alloc::{Cost, cost};
use crate::support::sized;

/// One sample for each number: a stack of that many frames, all with one name of 1 MB.
fn long_names(depths: &[usize]) -> Profiles {
    let name = "x".repeat(1_000_000);
    let mut builder = Builder::new();
    let profile = builder.profile("samples", "count");
    for depth in depths {
        let frames = std::iter::repeat_n(&*name, *depth);
        builder.sample(profile, root_first(frames)).value(1_u64);
    }
    builder.finish().unwrap()
}

/// Returns the rows of each record batch of the stacks.
fn batches(profiles: Profiles) -> Result<Vec<usize>> {
    let mut tables = tables(&[profiles])?;
    let mut rows = Vec::new();
    for part in tables.parts().to_vec() {
        if part.table == Table::Stacks {
            tables.each(&part, |batch| {
                record_batches(batch, |batch| {
                    rows.push(batch.num_rows());
                    Ok(())
                })
            })?;
        }
    }
    Ok(rows)
}

/// A payload has each name once, and Arrow in each row.
#[test]
fn rows_with_long_texts_go_into_several_batches() {
    let profiles = long_names(&[1, 20, 21, 22, 23, 24, 25, 26]);
    let (rows, cost) = cost(|| batches(profiles).unwrap());
    assert_eq!(rows, [4, 2, 2], "64 MB, then 45 and 51 MB");
    assert!(cost.peak < 200 << 20, "{cost:?}");
    let (error, cost) = cost_of_error(&[1_100]);
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.to_string().contains("use Parquet"), "{error}");
    assert!(cost < 10 << 20, "{cost}");
}

fn cost_of_error(depths: &[usize]) -> (otlp_profiles::Error, i64) {
    let profiles = long_names(depths);
    let (result, cost) = cost(|| batches(profiles));
    (result.unwrap_err(), cost.peak)
}

/// Profiles with that many rows in one table, and few in those that do not follow from it.
fn with_rows(table: Table, rows: usize) -> Profiles {
    let mut builder = Builder::with_limits(Limits::file(), WhenFull::Refuse);
    let first = builder.profile("samples", "count");
    for row in 0..rows {
        let profile = match table {
            Table::Profiles if row > 0 => builder.profile("samples", &row.to_string()),
            _ => first,
        };
        let mut location = NewLocation::default();
        location.address = row as u64 % 317 + 1;
        match table {
            Table::Stacks => location.address = row as u64 + 1,
            Table::Mappings => {
                let name = format!("/usr/lib/lib{row}.so");
                location.mapping = builder.mapping(NewMapping::new(&*name));
            }
            _ => {}
        }
        let frame = builder.location(location);
        let sample = builder.sample(profile, leaf_first([frame])).value(row as u64 + 1);
        if table == Table::Samples {
            sample.attr("request", (row / 317) as i64);
        }
    }
    builder.finish().unwrap()
}

/// Exports profiles. Returns the rows of a table, and the cost without the profiles.
fn export(profiles: &Profiles, table: Table, format: TableFormat) -> (u64, Cost) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("large-{}", table.name()));
    let scratch = File::options().read(true).write(true).create(true).truncate(true).open(&path);
    let mut options = SegmentOptions::default();
    options.limits = Limits::file();
    let exported = cost(|| {
        let mut segment = Segment::new(options, scratch.unwrap()).unwrap();
        assert!(segment.add(profiles, "large.pb", "pprof").unwrap().is_empty());
        let mut tables = segment.finish([7; 12]).unwrap();
        let mut rows = 0;
        for part in tables.parts().to_vec() {
            let written = write_part(&mut tables, &part, std::io::sink(), format).unwrap();
            rows += if part.table == table { written } else { 0 };
        }
        rows
    });
    fs::remove_file(path).unwrap();
    exported
}

/// Memory and allocations follow the rows, in whatever table they are.
#[test]
fn cost_follows_the_rows() {
    let rows = sized(100_000);
    let formats = [TableFormat::Parquet(PageCompression::Gzip), TableFormat::Arrow];
    for table in Table::ALL {
        let [half, whole] = [rows / 2, rows].map(|rows| with_rows(table, rows));
        for format in formats {
            let (found, of_half) = export(&half, table, format);
            assert_eq!(found, rows as u64 / 2);
            let (found, cost) = export(&whole, table, format);
            assert_eq!(found, rows as u64, "{table:?}");
            println!("{table:?} {format:?}: {cost:?}, half {of_half:?}");
            // Tables double, so the peak of a half may be close to that of the whole, or half of it.
            let is_linear = |half: i64, whole: i64| whole < half * 5 / 2 + 100_000;
            assert!(is_linear(of_half.peak, cost.peak), "{table:?}: {cost:?}, half {of_half:?}");
            assert!(is_linear(of_half.count as i64, cost.count as i64), "{table:?}: {cost:?}");
            assert!(cost.peak < 1_000 * rows as i64, "{table:?}: {cost:?}");
        }
    }
}
