//! Bounds the cost of reading and writing: the number of allocations does not grow with the samples, and memory is
//! proportional to the bytes.

#[path = "../../benches/support/generate.rs"]
mod generate;

use crate::support::alloc::{Cost, cost};
use crate::support::wire::{int, len};
use otlp_profiles::builder::root_first;
use otlp_profiles::{Builder, Format, Limits, ReadOptions, WriteOptions};

/// Peak memory of a read, model included, per byte of the payload.
const MEMORY_OF_A_READ: f64 = 2.75;
/// Peak memory of a write, output included, per byte of the output.
const MEMORY_OF_A_WRITE: f64 = 5.0;
/// The same, for a write that reorders samples of eight values.
const MEMORY_OF_AN_ORDERED_WRITE: f64 = 3.0;
/// Allocations of a read of some thousand samples with labels: nearly one per column.
const ALLOCATIONS_OF_A_READ: u64 = 100;
/// Additional allocations for four times the samples: every array and table grows once or twice more.
const GROWTH: u64 = 24;
const MIB: f64 = (1 << 20) as f64;

struct Costs {
    payload: usize,
    read: Cost,
    write: Cost,
}

/// Measures the cost of the profile at `scale` in each format.
fn costs(format: Format, pprof: &[u8]) -> Costs {
    let options = |format| ReadOptions::default().limits(Limits::file()).format(format);
    let source = otlp_profiles::Format::PPROF;
    let model = otlp_profiles::read(pprof, &options(source)).unwrap().profiles;
    let write = || otlp_profiles::write(&model, format, &WriteOptions::default()).unwrap().payload;
    let (payload, write) = cost(write);
    let (reading, read) = cost(|| otlp_profiles::read(&payload, &options(format)).unwrap());
    assert_eq!(
        reading.profiles.iter().next().unwrap().samples().len(),
        model.iter().next().unwrap().samples().len()
    );
    Costs { payload: payload.len(), read, write }
}

#[test]
fn allocations_do_not_grow_with_the_samples() {
    let (small, large) = (generate::pprof(1), generate::pprof(4));
    for format in
        Format::ALL.iter().copied().filter(|format| format.is_whole() && !format.is_json())
    {
        let (one, four) = (costs(format, &small), costs(format, &large));
        println!(
            "{}: read {:?} then {:?}, write {:?} then {:?}",
            format.name(),
            one.read,
            four.read,
            one.write,
            four.write
        );
        let name = format.name();
        assert!(one.read.count <= ALLOCATIONS_OF_A_READ, "read {name}: {}", one.read.count);
        assert!(
            four.read.count <= one.read.count + GROWTH,
            "read {name}: {} then {}",
            one.read.count,
            four.read.count
        );
        assert!(
            four.write.count <= one.write.count + GROWTH,
            "write {name}: {} then {}",
            one.write.count,
            four.write.count
        );
        for costs in [&one, &four] {
            let bytes = costs.payload as f64;
            let (read, write) = (costs.read.peak as f64, costs.write.peak as f64);
            assert!(
                read <= MEMORY_OF_A_READ * bytes + MIB,
                "read {name}: {:.1} bytes a byte",
                read / bytes
            );
            assert!(
                write <= MEMORY_OF_A_WRITE * bytes + MIB,
                "write {name}: {:.1} bytes a byte",
                write / bytes
            );
        }
    }
}

/// Samples with many values in an order that OTLP 1.3 does not keep: the writer sorts their indices and copies no
/// sample.
#[test]
fn samples_in_another_order_are_not_copied() {
    let sample =
        |at: usize| len(2, &[len(1, &[1, 2][..1 + at % 2]), len(2, &[at as u8 & 127; 8])].concat());
    let mut pprof = len(1, &int(1, 1)).repeat(8);
    pprof.extend((0..20_000).flat_map(sample));
    pprof
        .extend([len(4, &int(1, 1)), len(4, &int(1, 2)), len(6, b""), len(6, b"samples")].concat());
    let options = ReadOptions::default().limits(Limits::file()).format(Format::PPROF);
    let profiles = otlp_profiles::read(&pprof, &options).unwrap().profiles;
    for format in [Format::OTLP_1_3, Format::OTLP_1_7] {
        let write = || otlp_profiles::write(&profiles, format, &WriteOptions::default()).unwrap();
        let (written, cost) = cost(write);
        let per_byte = cost.peak as f64 / written.payload.len() as f64;
        assert!(per_byte <= MEMORY_OF_AN_ORDERED_WRITE, "{}: {per_byte:.2}", format.name());
    }
}

/// The output buffer moves only a few times, regardless of the number of profiles.
#[test]
fn many_profiles_are_not_moved_for_each() {
    let mut builder = Builder::with_limits(Limits::file(), Default::default());
    for resource in 0..4000 {
        builder.resource().attr("service.name", format!("service-{resource}"));
        let profile = builder.profile("cpu", "nanoseconds");
        builder.sample(profile, root_first(["main", "work"])).value(1);
    }
    let profiles = builder.finish().unwrap();
    for &format in Format::ALL.iter().filter(|format| format.is_whole()) {
        let write =
            || otlp_profiles::write_all(&profiles, format, &WriteOptions::default()).unwrap();
        let ((payloads, _), cost) = cost(write);
        let bytes: usize = payloads.iter().map(Vec::len).sum();
        let times = cost.moved as f64 / bytes as f64;
        assert!(times < 24.0, "{}: {bytes} bytes are moved {times:.0} times", format.name());
    }
}

/// Ids that are not consecutive cost only a lookup table.
#[test]
fn ids_that_are_not_in_order_cost_one_table_each() {
    let pprof = Some(otlp_profiles::Format::PPROF);
    let options = ReadOptions::default().limits(Limits::file()).format(pprof);
    let read = |bytes: &[u8]| cost(|| otlp_profiles::read(bytes, &options).unwrap()).1;
    let (dense, sparse) = (read(&generate::pprof(1)), read(&generate::sparse_ids(1)));
    assert!(sparse.count <= dense.count + 40, "{dense:?} {sparse:?}");
}

#[test]
fn looking_takes_no_memory() {
    let options = ReadOptions::default().limits(Limits::file()).format(Format::PPROF);
    let profiles = otlp_profiles::read(&generate::pprof(1), &options).unwrap().profiles;
    let dictionary = profiles.dictionary();
    let (seen, cost) = cost(|| {
        let mut seen = (0, 0, 0, 0);
        for profile in &profiles {
            for sample in profile.samples() {
                seen.0 += profile.totals(sample).sum::<i64>();
                seen.1 += profile.observations(sample, 0).count();
                seen.2 +=
                    dictionary.frames(sample.stack).rev().map(|f| f.name().len()).sum::<usize>();
                let labels = dictionary.resolve(sample.attributes);
                seen.3 += labels.iter().filter_map(|label| labels.get_str(label.key)).count();
            }
        }
        seen
    });
    assert!(seen.0 > 0 && seen.1 > 0 && seen.2 > 0 && seen.3 > 0, "{seen:?}");
    assert_eq!(cost.count, 0);
}

/// Detection evidence is static, and most of the 143 samples have the ids of a link.
#[test]
fn links_and_evidence_cost_few_allocations() {
    let bytes = std::fs::read("testdata/go-cpu-labels.pb.gz").unwrap();
    let read = || otlp_profiles::read(&bytes, &ReadOptions::default()).unwrap();
    read();
    let (reading, cost) = cost(read);
    assert!(reading.profiles.dictionary().links().len() > 1);
    assert!(cost.count <= 80, "{} allocations", cost.count);
}
