//! Reproduces the table behind the decision on OTEP 0239 to the byte, with the encoders of the sizes benchmark.
#![cfg(feature = "proto")]

#[path = "../../benches/sizes/go.rs"]
mod go;
#[path = "../../benches/sizes/message.rs"]
mod message;
#[path = "../../benches/sizes/otep.rs"]
mod otep;

use otep::{Form, SECOND, payload, with_timestamps};
use otlp_profiles::proto::pprof::Profile;
use otlp_profiles::proto::prost::Message;

/// The benchmark's `average` profile, which only the corpus contains.
fn average() -> Option<Profile> {
    let Ok(corpus) = std::env::var("OTLP_PROFILES_CORPUS") else {
        eprintln!("skipped: OTLP_PROFILES_CORPUS is not set");
        return None;
    };
    let bytes = std::fs::read(format!("{corpus}/public/otep-0239/average.pprof")).ok()?;
    let limits = otlp_profiles::Limits::file();
    let bytes = otlp_profiles::compression::inflate(&bytes, &limits).expect("a whole file");
    Some(Profile::decode(&bytes[..]).expect("a pprof"))
}

fn sizes(profile: &Profile) -> [(usize, usize); 5] {
    Form::ALL.map(|form| {
        let bytes = payload(profile, form);
        (bytes.len(), go::gzip_len(&bytes))
    })
}

#[test]
fn average_is_as_published() {
    let Some(profile) = average() else { return };
    let published = [(7974, 3772), (83_204, 3844), (7940, 3397), (7487, 3276), (7695, 3347)];
    assert_eq!(sizes(&profile), published);
}

#[test]
fn average_with_timestamps_is_as_published() {
    let Some(profile) = average() else { return };
    let published = [(9516, 3787), (121_396, 4233), (9277, 3394), (8877, 3309), (8863, 3387)];
    assert_eq!(sizes(&with_timestamps(&profile, SECOND)), published);
}

#[test]
fn what_go_compresses_is_longer_the_less_it_repeats() {
    // Empty input: a header, an empty last block and a trailer.
    assert_eq!(go::gzip_len(&[]), 10 + 5 + 8);
    let mut seed = 1u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    };
    let noise: Vec<u8> = (0..200_000).map(|_| random()).collect();
    let length = go::gzip_len(&noise);
    assert!((200_000..200_500).contains(&length), "{length}: stored");
    assert!(go::gzip_len(&vec![7; 200_000]) < 300);
    assert!(go::gzip_len(&[&noise[..20_000], &noise[..20_000]].concat()) < 20_500);
}

#[test]
fn a_sort_of_go_sorts() {
    for count in [0, 1, 12, 13, 50, 60, 109, 5000] {
        for spread in [1, 2, 7, 10_000] {
            let lengths: Vec<usize> = (0..count).map(|at| at * 7919 % spread).collect();
            let order = go::sorted_as_go(&lengths);
            assert!(
                order.is_sorted_by_key(|at| std::cmp::Reverse(lengths[*at])),
                "{count} {spread}"
            );
            let mut rows = order;
            rows.sort_unstable();
            assert!(rows.into_iter().eq(0..count));
        }
    }
}
