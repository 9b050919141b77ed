//! Tables of large inputs: memory follows the content.
#![cfg(all(feature = "arrow", feature = "parquet"))]

use otlp_profiles::builder::root_first;
use otlp_profiles::columns::{Table, record_batches, tables};
use otlp_profiles::{Builder, ErrorKind, Profiles, Result};

use crate::support::alloc::cost;

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
