//! Tests the short examples.

use otlp_profiles::builder::root_first;
use otlp_profiles::{Builder, Format, Profiles};

#[path = "../../examples/drop_label.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod drop_label;
#[path = "../../examples/filter_service.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod filter_service;
#[path = "../../examples/fold.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod fold;
#[path = "../../examples/merge_top.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod merge_top;
#[path = "../../examples/rename_functions.rs"]
#[allow(dead_code, reason = "its main is for people")]
mod rename_functions;

/// Two services, each with a sample that has labels and a hash in its name.
fn payload() -> Vec<u8> {
    let mut builder = Builder::new();
    for service in ["checkout", "search"] {
        builder.resource().attr("service.name", service);
        let cpu = builder.profile("cpu", "nanoseconds");
        let leaf = format!("{service}::serve::h0123456789abcdef");
        let sample = builder.sample(cpu, root_first(["main", &*leaf]));
        sample.value(10).attr("endpoint", "/cart").attr("region", "eu");
    }
    let profiles = builder.finish().unwrap();
    otlp_profiles::write(&profiles, Format::OTLP, &Default::default()).unwrap().payload
}

fn read(payload: &[u8]) -> Profiles {
    otlp_profiles::read(payload, &Default::default()).unwrap().profiles
}

fn holds(payload: &[u8], text: &str) -> bool {
    payload.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn a_label_is_dropped() {
    let payload = drop_label::drop_label(&payload(), "endpoint").unwrap();
    assert!(!holds(&payload, "endpoint") && !holds(&payload, "/cart"));
    let profiles = read(&payload);
    for sample in profiles.iter().flat_map(|profile| profile.samples()) {
        let labels = profiles.dictionary().resolve(sample.attributes);
        assert_eq!((labels.len(), labels.get_str("region")), (1, Some("eu")));
    }
}

#[test]
fn functions_are_renamed() {
    let payload = rename_functions::strip_hashes(&payload()).unwrap();
    assert!(!holds(&payload, "h0123456789abcdef"));
    assert_eq!(fold::fold(&payload).unwrap(), "main;checkout::serve 10\nmain;search::serve 10\n");
}

#[test]
fn a_service_is_kept() {
    let payload = filter_service::of_service(&payload(), "checkout").unwrap();
    assert!(!holds(&payload, "search"));
    let profiles = read(&payload);
    let services =
        profiles.entries().map(|entry| entry.resource_attributes().get_str("service.name"));
    assert_eq!(services.collect::<Vec<_>>(), [Some("checkout")]);
}

#[test]
fn merged_profiles_are_reported() {
    let heap = std::fs::read("testdata/go-heap.pb.gz").unwrap();
    let report = merge_top::merge_top([&heap, &heap]).unwrap();
    assert_eq!(report.lines().filter(|line| line.contains("main.leak")).count(), 1, "{report}");
    assert!(!report.contains(" runtime."), "{report}");
}
