//! Parquet files of a dataset.

use std::panic::{set_hook, take_hook};
use std::sync::Once;

use otlp_profiles::columns::{PageCompression, ParquetWriter, SegmentFiles, restore, tables};
use otlp_profiles::fuzzing::profiles;
use otlp_profiles::{Format, Limits, ReadOptions, WriteOptions, read, write};

use crate::alloc::cost;

/// The most memory of an import within the limits of the target.
const MOST: i64 = 64 << 20;

/// Writes the profiles of some bytes as the files of a segment.
fn files(bytes: &[u8], compression: PageCompression) -> otlp_profiles::Result<SegmentFiles> {
    let (mut tables, mut files) = (tables(&[profiles(bytes)])?, SegmentFiles::default());
    for part in tables.parts().to_vec() {
        let mut writer = ParquetWriter::new(Vec::new(), part.table, tables.id(), compression)?;
        tables.each(&part, |batch| writer.write(batch))?;
        files.files[part.table as usize].push(writer.finish()?);
    }
    Ok(files)
}

/// Changes bytes: an edit is a position, from the start or from the footer's end, and a value. Some write the largest
/// varint of 32 bits, as most fields of page headers and the footer are varints.
fn edit(file: &mut [u8], edits: &[u8]) {
    for edit in edits.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([edit[0], edit[1]]) & 0x1fff);
        let at = if edit[1] & 0x40 == 0 { file.len().saturating_sub(8 + at) } else { at };
        match file.get_mut(at..at + 5) {
            Some(number) if edit[1] & 0x80 != 0 => number.copy_from_slice(b"\xff\xff\xff\xff\x0f"),
            Some(number) => number[0] = edit[2],
            None => {}
        }
    }
}

/// The reader of Parquet contains panics of the crate `parquet`, which libFuzzer's hook would turn into aborts.
fn contain_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |info| {
            if !info.location().is_some_and(|at| at.file().contains("/parquet-")) {
                hook(info);
            }
        }));
    });
}

/// Files of a dataset with some bytes changed give an error, or profiles that can be written and read. The first bytes
/// select a table, the compression and edits; the rest decides what the profiles are. As a file of each table, the input
/// itself is an error.
pub fn import(input: &[u8]) {
    let [select, count, rest @ ..] = input else { return };
    contain_panics();
    let compression = [PageCompression::Gzip, PageCompression::Lz4, PageCompression::None];
    let compression = compression[usize::from(select >> 2) % compression.len()];
    let (edits, rest) = rest.split_at(rest.len().min(usize::from(count % 16) * 3));
    let mut segment = files(rest, compression).expect("profiles become tables");
    let table = &mut segment.files[usize::from(select % 4)];
    table.iter_mut().for_each(|file| edit(file, edits));
    let limits = Limits::network().max_decompressed_bytes(1 << 20).max_table_entries(1 << 16);
    let (restored, cost) =
        cost(|| restore(segment, &limits.max_owned_bytes(MOST as u64 / 4), |_| true));
    assert!(cost.peak < MOST, "{} bytes", cost.peak);
    let Ok(restored) = restored else { return };
    let written = write(&restored.profiles, Format::OTLP, &WriteOptions::default());
    let written = written.expect("restored profiles are writable").payload;
    read(&written, &ReadOptions::default().format(Format::OTLP)).expect("the output is readable");

    let mut whole = SegmentFiles::default();
    whole.files.iter_mut().for_each(|files| files.push(input.to_vec()));
    assert!(restore(whole, &limits, |_| true).is_err());
}
