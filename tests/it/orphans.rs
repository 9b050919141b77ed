//! Writers add no unreferenced rows: profcheck's check for orphans passes on the output if it passes on the source.
#![cfg(feature = "proto-all")]

use crate::support;
use crate::support::generate::pprofs;
use crate::support::profcheck::{Orphans, problems};
use crate::support::{read, write};
use crate::support::{sized, some};
use otlp_profiles::proto::prost::Message;
use otlp_profiles::{Format, Profiles};
use proptest::prelude::*;

/// The orphans that writers add in any generation to a model without orphans.
fn orphans(model: &Profiles) -> Vec<String> {
    let generations = Format::ALL.iter().filter(|format| format.is_otlp() && !format.is_json());
    let problems = generations.flat_map(|format| {
        let payload = write(format.name(), model).0;
        problems(format.name(), &payload, Orphans::Profcheck)
    });
    problems.filter(|problem| problem.contains("\"orphan\"")).collect()
}

/// The same, after the compacted model was written to every format and read back.
fn orphans_by_every_way(mut model: Profiles) -> Vec<String> {
    model.compact();
    let ways = Format::ALL.iter().filter(|format| format.is_whole()).flat_map(|format| {
        let there = read(format.name(), &write(format.name(), &model).0);
        orphans(&there).into_iter().map(move |orphan| format!("by {format}: {orphan}"))
    });
    ways.collect()
}

#[test]
fn writers_add_no_orphans_to_real_profiles() {
    for (file, bytes) in some(support::testdata(&[".pb.gz", ".pb"]).into_iter()) {
        assert_eq!(orphans_by_every_way(read("pprof", &bytes)), [""; 0], "{file}");
        // Orphans of the source are rows, but the writer adds no unreferenced strings.
        let of_strings = orphans(&read("pprof", &bytes)).into_iter();
        let of_strings: Vec<_> =
            of_strings.filter(|orphan| orphan.contains("\"string\"")).collect();
        assert_eq!(of_strings, [""; 0], "{file}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(24) as u32, ..support::generate::config() })]

    #[test]
    fn writers_add_no_orphans(profile in pprofs()) {
        let found = orphans_by_every_way(read("pprof", &profile.encode_to_vec()));
        prop_assert_eq!(found, Vec::<String>::new());
    }
}
