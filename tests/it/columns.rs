//! Profiles as tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use otlp_profiles::columns::{Array, Batch, Table, Values, tables};
use otlp_profiles::{Profiles, ReadOptions, read};

/// Reads all profiles of testdata.
fn testdata() -> Vec<(String, Profiles)> {
    let mut paths: Vec<_> =
        std::fs::read_dir("testdata").unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).ok()?;
        let profiles = read(&bytes, &ReadOptions::default()).ok()?.profiles;
        Some((path.to_string_lossy().into_owned(), profiles))
    };
    let all: Vec<_> = paths.into_iter().filter_map(read).collect();
    assert!(all.len() > 10, "testdata has profiles");
    all
}

fn column<'b>(batch: &'b Batch<'_>, name: &str) -> &'b Array {
    batch.columns().find(|(column, _)| column.name == name).unwrap().1
}

fn numbers<'b>(batch: &'b Batch<'_>, name: &str) -> &'b [i64] {
    let Values::Int64(numbers) = &column(batch, name).values else { panic!("{name}") };
    numbers
}

#[test]
fn sums_by_type_are_those_of_the_profiles() {
    for (name, profiles) in testdata() {
        let mut expected = BTreeMap::<String, i128>::new();
        for profile in &profiles {
            for (kind, sum) in profile.sample_types().iter().zip(profile.sums()) {
                let name = profiles.dictionary().text(kind.name).to_owned();
                *expected.entry(name).or_default() += sum;
            }
        }
        expected.retain(|_, sum| *sum != 0);
        let mut sums = BTreeMap::<String, i128>::new();
        let mut tables = tables(&[profiles]).unwrap();
        for part in tables.parts().to_vec() {
            let add = |batch: &Batch<'_>| {
                let Values::Text(types) = &column(batch, "type").values else { panic!() };
                for (kind, value) in types.iter().zip(numbers(batch, "value")) {
                    *sums.entry(batch.text(*kind).to_owned()).or_default() += i128::from(*value);
                }
                Ok(())
            };
            if part.table == Table::Samples {
                tables.each(&part, add).unwrap();
            }
        }
        sums.retain(|kind, sum| *sum != 0 || expected.contains_key(kind));
        sums.remove("");
        assert_eq!(sums, expected, "{name}");
    }
}

#[test]
fn every_column_has_one_value_for_each_row() {
    for (name, profiles) in testdata() {
        let mut tables = tables(&[profiles]).unwrap();
        for part in tables.parts().to_vec() {
            let check = |batch: &Batch<'_>| {
                assert_eq!(batch.columns().len(), part.table.columns().len());
                for (column, array) in batch.columns() {
                    let place = format!("{name} {} {}", part.table.name(), column.name);
                    let is_flat = array.offsets.is_empty();
                    let rows = if is_flat { array.values.len() } else { array.offsets.len() - 1 };
                    assert_eq!(rows, batch.len(), "{place}");
                    assert!(array.validity.is_empty() || array.validity.len() == rows, "{place}");
                    assert!(column.is_nullable || array.validity.is_empty(), "{place}");
                    let items = array.offsets.last().map_or(rows, |end| *end as usize);
                    assert_eq!(items, array.values.len(), "{place}");
                    let items_valid = array.item_validity.len();
                    assert!(items_valid == 0 || items_valid == items, "{place}");
                }
                Ok(())
            };
            tables.each(&part, check).unwrap();
        }
    }
}

/// The tables of docs/EXPORT.md, which are also the golden schema: names, types, nullability.
#[test]
fn docs() {
    let mut text = String::new();
    for table in Table::ALL.iter().rev() {
        let sorted = table.sorted_by().join("`, `");
        text += &format!("\n**{}**, sorted by `{sorted}`\n\n", table.name());
        text += "| column | type | |\n|---|---|---|\n";
        for column in table.columns() {
            text += &format!("| `{}` | {column} | {} |\n", column.name, column.about);
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/EXPORT.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("columns::docs -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end -->").unwrap();
    let expected = format!("{before}columns::docs -->\n{text}\n<!-- end -->{after}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    assert!(page == expected || std::env::var_os("BLESS").is_some(), "run it with BLESS=1");
}
