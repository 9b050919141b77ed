//! Facts about the schemas in `proto/` beyond their fields, which the tests of `src/schema` check.
#![cfg(feature = "proto-all")]

use otlp_profiles::proto::{self, prost::Message};
use prost_types::FileDescriptorSet;

use crate::support::forms::{FORMS, Form};

fn schema(descriptors: &[u8]) -> FileDescriptorSet {
    FileDescriptorSet::decode(descriptors).expect("a file descriptor set")
}

#[test]
fn every_generation_has_the_service_and_the_reserved_number() {
    for Form { name, descriptors, .. } in FORMS {
        let schema = schema(descriptors);
        let stage = if *name == "otlp-1.3" { "v1experimental" } else { "v1development" };
        let package = format!("opentelemetry.proto.collector.profiles.{stage}");
        let services: Vec<_> =
            schema.file.iter().flat_map(|f| f.service.iter().map(|s| (f.package(), s))).collect();
        let [(found, service)] = services[..] else {
            panic!("{name}: {} services", services.len());
        };
        assert_eq!((found, service.name()), (package.as_str(), "ProfilesService"));
        let [method] = &service.method[..] else {
            panic!("{name}: {} methods", service.method.len());
        };
        assert_eq!(method.name(), "Export");
        let message = |kind: &str| format!(".{package}.ExportProfilesService{kind}");
        assert_eq!(method.input_type(), message("Request"));
        assert_eq!(method.output_type(), message("Response"));
        assert!(!method.client_streaming() && !method.server_streaming());

        let mut messages = schema.file.iter().flat_map(|f| &f.message_type);
        let resource = messages.find(|m| m.name() == "ResourceProfiles").unwrap();
        let reserved: Vec<_> =
            resource.reserved_range.iter().map(|r| (r.start(), r.end())).collect();
        assert_eq!(reserved, [(1000, 1001)], "{name}");
    }
}

/// `bytes` fields share the input, and the packages of a generation are one module.
#[test]
fn the_types_have_the_shape_users_rely_on() {
    use proto::{pprof, v1_3, v1_10};

    let link = v1_10::Link { trace_id: bytes::Bytes::from_static(&[1; 16]), ..Default::default() };
    let key = v1_10::KeyValue { key_strindex: 1, ..Default::default() };
    let request = v1_10::ExportProfilesServiceRequest {
        resource_profiles: vec![v1_10::ResourceProfiles {
            resource: Some(v1_10::Resource { attributes: vec![key], ..Default::default() }),
            ..Default::default()
        }],
        dictionary: Some(v1_10::ProfilesDictionary {
            link_table: vec![v1_10::Link::default(), link],
            ..Default::default()
        }),
    };
    // Since 1.7, both envelopes have the same bytes.
    let data = v1_10::ProfilesData::decode(request.encode_to_vec().as_slice()).unwrap();
    assert_eq!(data.dictionary, request.dictionary);
    assert_eq!(data.resource_profiles, request.resource_profiles);

    // Field 15 is `doc_url` in pprof and `location_indices` in 1.3.
    let pprof = pprof::Profile { doc_url: 7, ..Default::default() };
    let otep = v1_3::ProfileContainer {
        profile: Some(v1_3::Profile::decode(pprof.encode_to_vec().as_slice()).unwrap()),
        ..Default::default()
    };
    assert_eq!(otep.profile.unwrap().location_indices, [7]);
}
