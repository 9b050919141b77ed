//! Detects the format of a payload.
//!
//! All message formats are protobuf, and a protobuf payload contains neither its schema nor its version. The
//! formats differ in field numbers and wire types. Each format has a [`Grammar`](grammar::Grammar): a version
//! of the schema, so registering a new generation is enough to detect it. Detection walks the payload by each
//! grammar and counts misfits: contradictions first, then unknown fields and dangling references, then
//! oddities.
//!
//! It first walks the beginnings of all lists (`trials`). If several formats remain, it walks a small payload
//! completely, and evenly spaced list elements of a large one (`scan`). Rules of likelihood decide the rest
//! (`decide`).
//!
//! | file | contents |
//! |---|---|
//! | [`grammar`], [`signals`] | the fields of each format |
//! | [`candidates`], [`trials`], [`bounds`] | which formats are tried, on how much of the payload |
//! | [`walk`], [`count`], [`rows`], [`score`] | one walk by one grammar, and its misfits |
//! | [`scan`] | large payloads |
//! | [`decide`], [`endpoint`], [`evidence`] | the result and its evidence |
//! | [`magic`], [`foreign`], [`signatures`] | payloads that are not protobuf |

mod bounds;
mod candidates;
mod count;
mod decide;
mod endpoint;
mod evidence;
mod foreign;
mod grammar;
mod hints;
mod kinds;
mod magic;
mod rows;
mod scan;
mod score;
#[cfg(feature = "serde")]
mod serialize;
mod signals;
mod signatures;
mod trials;
mod unreleased;
mod walk;

pub use endpoint::Endpoint;

pub(crate) use signatures::{is_legacy_cpu, is_legacy_java_cpu};

use crate::error::{Error, ErrorKind, Result};
use crate::format::json::fit::generations_named;
use crate::format::{Encoding, Format};

/// The format of a payload, how certain it is, and the evidence.
///
/// [`detect()`](crate::detect()) returns it, and every [`Reading`](crate::Reading) contains it.
///
/// ```
/// # fn main() -> otlp_profiles::Result<()> {
/// let bytes = std::fs::read("testdata/go-heap.pb.gz").unwrap();
/// let detected = otlp_profiles::detect(&bytes, &Default::default())?;
/// assert_eq!(detected.format, otlp_profiles::Format::PPROF);
/// assert_eq!(detected.certainty, otlp_profiles::Certainty::Certain);
/// assert!(!detected.evidence.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Detected {
    /// The detected format.
    pub format: Format,
    /// How certain the detection is.
    pub certainty: Certainty,
    /// The evidence, in sentences.
    ///
    /// For example, `Sample field 4 is packed: values of otlp-1.10, not of otlp-1.9, otlp-1.8`. The sentences
    /// are for people and may change.
    pub evidence: Vec<String>,
}

/// How certain a detection is.
///
/// [`read()`](crate::read()) accepts a guess ([`is_guess`](Self::is_guess)) only if the caller [permits it](crate::Ambiguity).
/// It accepts every other certainty.
///
/// ```
/// use otlp_profiles::{Certainty, Format};
///
/// let certainty = Certainty::Equivalent(vec![Format::OTLP_1_9]);
/// assert_eq!(certainty.to_string(), "the same as otlp-1.9");
/// assert_eq!(certainty.others(), [Format::OTLP_1_9]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Certainty {
    /// Only this format fits.
    Certain,
    /// Other formats read the same profiles. This applies to payloads without samples, or with only fields
    /// that never changed.
    Equivalent(Vec<Format>),
    /// Other formats read different profiles, or may: detection samples large payloads. This format is the
    /// likeliest.
    Preferred(Vec<Format>),
    /// Other formats read different profiles and are equally likely.
    Ambiguous(Vec<Format>),
    /// The payload is damaged, and this format is the nearest. If the payload ends early, the fields that
    /// distinguish formats may be missing.
    Nearest,
}

impl Certainty {
    /// Returns the other formats that fit, in the order of [`Format::ALL`], whether or not they read the same
    /// profiles.
    pub fn others(&self) -> &[Format] {
        match self {
            Self::Certain | Self::Nearest => &[],
            Self::Equivalent(others) | Self::Preferred(others) | Self::Ambiguous(others) => others,
        }
    }

    /// Returns whether another format that fits may read different profiles. If so, the detection is a guess.
    ///
    /// ```
    /// use otlp_profiles::{Certainty, Format};
    /// assert!(!Certainty::Equivalent(vec![Format::OTLP_1_9]).is_guess());
    /// assert!(Certainty::Preferred(vec![Format::OTLP_1_9]).is_guess());
    /// ```
    pub fn is_guess(&self) -> bool {
        matches!(self, Self::Preferred(_) | Self::Ambiguous(_))
    }
}

impl std::fmt::Display for Certainty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let relation = match self {
            Self::Certain => return f.write_str("certain"),
            Self::Nearest => return f.write_str("the nearest"),
            Self::Equivalent(_) => "the same as",
            Self::Preferred(_) => "preferred to",
            Self::Ambiguous(_) => "ambiguous with",
        };
        write!(f, "{relation} {}", names(self.others()))
    }
}

/// Joins the names of formats: `otlp-1.10, otlp-1.9`.
pub(crate) fn names(formats: &[Format]) -> String {
    let names: Vec<_> = formats.iter().map(|format| format.name()).collect();
    names.join(", ")
}

/// How much of a large payload is examined if several formats fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The beginnings of its lists, evenly spaced elements, and all fields outside lists. Formats that read
    /// these the same are `Preferred`, and the evidence names them.
    Bounded,
    /// All fields in which the formats differ, so that formats which read the same are `Equivalent`.
    Whole,
}

/// Detects the format of an inflated, unframed payload.
///
/// A hint decides between formats that fit. If no format is recognised, detection trusts the hint, because
/// its reader describes the fault best. A hint that cannot be true is an error. An endpoint only decides
/// between formats that fit equally well.
///
/// # Errors
///
/// [`Unrecognised`](crate::ErrorKind::Unrecognised) if the payload is unknown, or of a kind that this crate
/// does not read. [`Malformed`](crate::ErrorKind::Malformed) if the bytes contradict the hint.
pub(crate) fn detect_payload(
    payload: &[u8],
    hint: Option<Format>,
    endpoint: Option<Endpoint>,
    depth: Depth,
) -> Result<Detected> {
    let mut detected = recognise(payload, hint, endpoint, depth)?;
    if let Some(endpoint) = endpoint.filter(|_| !detected.format.is_otlp()) {
        let name = detected.format.name();
        let message = format!("the body is {name}, and {endpoint} accepts OTLP only");
        return Err(Error::new(ErrorKind::Unrecognised, message));
    }
    if detected.format == Format::OTLP_JSON {
        detected.evidence.extend(generations_named(payload));
    }
    Ok(detected)
}

/// Returns whether a text begins like JSON.
pub(crate) fn begins_json(text: &[u8]) -> bool {
    magic::begins_json(text)
}

/// Returns whether a payload is recognised by its first bytes or as text.
pub(crate) fn is_foreign(payload: &[u8]) -> bool {
    magic::binary(payload).is_some() || magic::text(payload).is_some()
}

/// Recognises JSON and formats of other tools by their beginning; all other payloads go to `decide`.
///
/// The order matters: an empty payload; a hint of another tool's format, which is trusted; bytes that never
/// begin protobuf; the grammars; the hint again; text; a damaged body sent to an endpoint; the error.
fn recognise(
    payload: &[u8],
    hint: Option<Format>,
    endpoint: Option<Endpoint>,
    depth: Depth,
) -> Result<Detected> {
    if payload.is_empty() {
        return empty(hint, endpoint);
    }
    if let Some(format) = hint.filter(|format| !format.is_whole()) {
        return Ok(at_its_word(format));
    }
    if let Some(seen) = magic::binary(payload) {
        let is_json = |format: Format| matches!(format.encoding(), Encoding::OtlpJson);
        return match hint.filter(|format| is_json(*format) && seen.format.is_none()) {
            Some(format) => Ok(at_its_word(format)),
            None => seen.answer(hint, payload),
        };
    }
    let candidates = &candidates::CANDIDATES;
    if let Some(detected) = decide::decide(candidates, payload, hint, endpoint, depth)? {
        return Ok(detected);
    }
    match hint {
        Some(format) => Ok(at_its_word(format)),
        None => match (magic::text(payload), cut(payload, endpoint)) {
            (Some(seen), _) => seen.answer(None, payload),
            (None, cut) => cut.ok_or_else(|| magic::nothing(payload)),
        },
    }
}

/// Returns the newest generation of an endpoint for a body that begins like OTLP and whose fields end early.
/// The reader then reports where.
fn cut(payload: &[u8], endpoint: Option<Endpoint>) -> Option<Detected> {
    let endpoint = endpoint.filter(|_| matches!(payload.first(), Some(0x0a | 0x12)))?;
    let is_taken = |format: &Format| format.schema().is_some_and(|schema| endpoint.takes(schema));
    let format = Format::ALL.iter().copied().find(is_taken)?;
    let evidence = vec![format!("the body is damaged; {endpoint} accepts OTLP")];
    let certainty = Certainty::Nearest;
    decide::fields(payload).is_none().then_some(Detected { format, certainty, evidence })
}

/// Returns the format of an empty payload, which is a valid message of every generation.
fn empty(hint: Option<Format>, endpoint: Option<Endpoint>) -> Result<Detected> {
    let otlp = || Format::ALL.iter().copied().filter(|format| format.schema().is_some());
    let is_taken = |format: &Format| {
        let schema = format.schema();
        endpoint.is_none_or(|endpoint| schema.is_some_and(|schema| endpoint.takes(schema)))
    };
    let Some(format) = hint.or_else(|| otlp().find(is_taken)) else {
        return Err(magic::nothing(&[]));
    };
    let others: Vec<_> = otlp().filter(|&other| other != format).collect();
    let certainty =
        if format.schema().is_some() { Certainty::Equivalent(others) } else { Certainty::Certain };
    let evidence = vec!["an empty payload is a valid OTLP message without fields".to_owned()];
    Ok(Detected { format, certainty, evidence })
}

fn at_its_word(format: Format) -> Detected {
    let name = format.name();
    let evidence = vec![match format.is_whole() {
        true => format!("nothing was recognised; {name} was requested"),
        false => format!("{name} was requested"),
    }];
    Detected { format, certainty: Certainty::Certain, evidence }
}

#[cfg(test)]
mod tests {
    use super::candidates::candidates;
    use super::*;
    use crate::wire::write::varint;

    /// Encodes a message of numbered fields: varints (`Ok`) or bytes (`Err`).
    fn message(fields: &[(u64, Result<u64, Vec<u8>>)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, value) in fields {
            match value {
                Ok(value) => {
                    varint(&mut out, number << 3);
                    varint(&mut out, *value);
                }
                Err(bytes) => {
                    varint(&mut out, number << 3 | 2);
                    varint(&mut out, bytes.len() as u64);
                    out.extend_from_slice(bytes);
                }
            }
        }
        out
    }

    fn text(text: &str) -> Result<u64, Vec<u8>> {
        Err(text.as_bytes().to_vec())
    }

    /// Encodes a payload whose dictionary holds one stack and one attribute, with these fields in its sample.
    fn payload(sample: &[(u64, Result<u64, Vec<u8>>)]) -> Vec<u8> {
        let profile =
            message(&[(1, Err(message(&[(1, Ok(1)), (2, Ok(2))]))), (2, Err(message(sample)))]);
        let scope = message(&[(2, Err(profile))]);
        let attribute = message(&[(1, Ok(3)), (2, Err(message(&[(3, Ok(7))])))]);
        let strings = ["", "samples", "count", "thread.id"].map(|string| (5, text(string)));
        let mut dictionary = message(&strings);
        dictionary.extend(message(&[(2, Err(Vec::new())), (2, Err(message(&[(2, Ok(4096))])))]));
        dictionary.extend(message(&[(6, Err(Vec::new())), (6, Err(attribute))]));
        dictionary
            .extend(message(&[(7, Err(Vec::new())), (7, Err(message(&[(1, Err(vec![1]))])))]));
        message(&[(1, Err(message(&[(2, Err(scope))]))), (2, Err(dictionary))])
    }

    fn answer(payload: &[u8]) -> String {
        match detect_payload(payload, None, None, Depth::Bounded) {
            Ok(detected) => format!(
                "{} ({}): {}",
                detected.format.name(),
                detected.certainty,
                detected.evidence.join("; ")
            ),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_generation_is_told_by_the_fields_of_its_samples() {
        let newest = payload(&[(1, Ok(1)), (2, Err(vec![1])), (4, Err(vec![9]))]);
        let before = payload(&[(1, Ok(1)), (2, Err(vec![9])), (3, Err(vec![1]))]);
        assert!(answer(&newest).starts_with(
            "otlp-1.10 (certain): Sample field 4 is packed: values of otlp-1.10, not of otlp-1.9"
        ));
        assert!(answer(&before).starts_with("otlp-1.9 (the same as otlp-1.8): Sample field 3 is packed: attribute_indices of otlp-1.9, not of otlp-1.10"));
    }

    #[test]
    fn a_field_that_is_known_if_written_unusually_tells_more_than_one_that_is_unknown() {
        let attribute = message(&[(1, text("host.name")), (2, Err(message(&[(1, text("here"))])))]);
        let mut profile = message(&[
            (1, Err(message(&[(1, Ok(1)), (2, Ok(2))]))),
            (2, Err(message(&[(1, Ok(0)), (2, Ok(1)), (3, Ok(9))]))),
            (4, Err(message(&[(2, Ok(4096))]))),
            (5, Ok(0)),
            (7, Err(attribute)),
        ]);
        let strings = ["", "samples", "count"].map(|string| (10, text(string)));
        profile.extend(message(&strings));
        profile.extend(message(&[(22, Ok(0))]));
        let scope = message(&[(2, Err(profile))]);
        let payload = message(&[(1, Err(message(&[(2, Err(scope))])))]);
        assert!(answer(&payload).starts_with("otlp-1.5"), "{}", answer(&payload));
    }

    #[test]
    fn tables_behind_indices_that_are_not_packed_are_counted() {
        let mut profile = message(&[
            (1, Err(message(&[(1, Ok(1)), (2, Ok(2))]))),
            (2, Err(message(&[(1, Ok(0)), (2, Ok(1)), (3, Err(vec![9]))]))),
            (5, Ok(0)),
            (4, Err(message(&[(1, Ok(0)), (2, Ok(4096))]))),
            (3, Err(message(&[(4, Ok(2))]))),
        ]);
        let strings = ["", "samples", "count"].map(|string| (10, text(string)));
        profile.extend(message(&strings));
        profile.extend(message(&[(22, Ok(0))]));
        let scope = message(&[(2, Err(profile))]);
        let payload = message(&[(1, Err(message(&[(2, Err(scope))])))]);
        let answer = answer(&payload);
        assert!(answer.starts_with("otlp-1.5 (certain)"), "{answer}");
        assert!(!answer.contains("would lead past"), "{answer}");
    }

    #[test]
    fn what_cannot_be_told_is_equivalent_or_preferred_as_it_reads() {
        let time = vec![0, 0, 0, 0, 0, 0, 0, 16];
        let same = payload(&[(1, Ok(1)), (5, Err(time.clone()))]);
        assert!(!answer(&same).contains("preferred"), "{}", answer(&same));
        let either = payload(&[(1, Ok(1)), (2, Err(vec![1])), (5, Err(time.clone()))]);
        assert!(
            answer(&either).starts_with("otlp-1.10 (preferred to otlp-1.9, otlp-1.8)"),
            "{}",
            answer(&either)
        );
        let values = payload(&[(1, Ok(1)), (2, Err(vec![2])), (5, Err(time))]);
        assert!(
            answer(&values).starts_with("otlp-1.9 (the same as otlp-1.8)"),
            "{}",
            answer(&values)
        );
    }

    #[test]
    fn a_hint_decides_between_what_fits_and_is_refused_where_it_cannot_be() {
        let either =
            payload(&[(1, Ok(1)), (2, Err(vec![1])), (5, Err(vec![0, 0, 0, 0, 0, 0, 0, 16]))]);
        let detected =
            detect_payload(&either, Some(Format::OTLP_1_9), None, Depth::Bounded).unwrap();
        assert_eq!(
            (detected.format.name(), detected.certainty),
            ("otlp-1.9", Certainty::Preferred(vec![Format::OTLP_1_10]))
        );
        for wrong in ["pprof", "otlp-1.9", "otlp-1.3"] {
            let newest = payload(&[(1, Ok(1)), (4, Err(vec![9]))]);
            let error =
                detect_payload(&newest, wrong.parse().ok(), None, Depth::Bounded).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Malformed);
            let text = error.to_string();
            assert!(
                text.starts_with(&format!("the payload is otlp-1.10, not {wrong} (")),
                "{text}"
            );
        }
        let nothing =
            detect_payload(b"\x07\x07\x07", Some(Format::OTLP_1_9), None, Depth::Bounded).unwrap();
        assert_eq!(nothing.format.name(), "otlp-1.9");
    }

    #[test]
    fn an_endpoint_breaks_ties_and_nothing_else() {
        let as_sent = |payload: &[u8], endpoint| {
            let detected = detect_payload(payload, None, Some(endpoint), Depth::Bounded).unwrap();
            let evidence = detected.evidence.last().cloned().unwrap_or_default();
            (detected.format.name(), detected.certainty, evidence)
        };
        // A resource without profiles and an empty payload are messages of every generation.
        for payload in [&b"\x0a\x00"[..], b""] {
            let (old, certainty, _) = as_sent(payload, Endpoint::V1Experimental);
            assert_eq!(old, "otlp-1.3");
            assert!(
                matches!(&certainty, Certainty::Equivalent(others) if others.contains(&Format::OTLP_1_10)),
                "{certainty}"
            );
            let (new, certainty, _) = as_sent(payload, Endpoint::V1Development);
            assert_eq!(new, "otlp-1.10");
            assert!(
                matches!(&certainty, Certainty::Equivalent(others) if others.contains(&Format::OTLP_1_3)),
                "{certainty}"
            );
        }
        let newest = payload(&[(1, Ok(1)), (4, Err(vec![9]))]);
        let (name, certainty, evidence) = as_sent(&newest, Endpoint::V1Experimental);
        assert_eq!((name, certainty), ("otlp-1.10", Certainty::Certain));
        assert_eq!(
            evidence,
            "it was sent to v1experimental, which takes none of the formats that fit"
        );
        let (name, _, evidence) = as_sent(&newest, Endpoint::V1Development);
        assert_eq!(name, "otlp-1.10");
        assert!(!evidence.contains("sent to"), "{evidence}");
    }

    #[test]
    fn a_field_above_all_is_called_newer() {
        let newer = payload(&[(1, Ok(1)), (2, Err(vec![1])), (4, Err(vec![9])), (6, Ok(1))]);
        let answer = answer(&newer);
        assert!(answer.starts_with("otlp-1.10 (certain)"), "{answer}");
        assert!(
            answer.ends_with(
                "Sample field 6 is unknown in otlp-1.10: a newer generation, or an extension"
            ),
            "{answer}"
        );
    }

    #[test]
    fn what_was_cut_off_is_still_told() {
        let mut whole = payload(&[(1, Ok(1)), (2, Err(vec![1])), (4, Err(vec![9]))]);
        let strings: Vec<u8> = (0..100).flat_map(|_| message(&[(5, text("name"))])).collect();
        whole.extend(message(&[(2, Err(strings))]));
        whole.truncate(whole.len() - 3);
        assert!(
            answer(&whole).starts_with(
                "otlp-1.10 (the nearest): the payload is damaged and most similar to otlp-1.10"
            ),
            "{}",
            answer(&whole)
        );
    }

    #[test]
    fn another_message_of_protobuf_is_no_broken_pprof() {
        let sample = message(&[(1, Err(vec![1])), (2, Err(vec![7]))]);
        let mut broken = message(&[(1, Err(message(&[(1, Ok(1)), (2, Ok(2))])))]);
        broken.extend((0..40).flat_map(|_| message(&[(2, Err(sample.clone()))])));
        broken.extend(message(&[(4, Err(message(&[(1, Ok(1)), (4, Ok(9))])))]));
        let is_broken =
            |payload: &[u8]| answer(payload).contains("damaged and most similar to pprof");
        let named = message(&[(6, text("")), (6, text("samples")), (6, text("count"))]);
        assert!(is_broken(&[&broken[..], &named].concat()));
        // The missing strings may have followed after the truncated end.
        assert!(is_broken(&[&broken[..], &message(&[(2, Err(sample))])[..4]].concat()));
        // Complete, but without strings: quipper's events resemble samples.
        let other = answer(&broken);
        assert!(other.starts_with("this is a protobuf message of an unknown type"), "{other}");
    }

    #[test]
    fn no_bytes_are_a_message_about_nothing() {
        let detected = detect_payload(b"", None, None, Depth::Bounded).unwrap();
        assert_eq!(detected.format.name(), "otlp-1.10");
        assert!(
            matches!(detected.certainty, Certainty::Equivalent(others) if others.contains(&Format::OTLP_1_3) && !others.contains(&Format::PPROF))
        );
        assert_eq!(
            detect_payload(b"", Some(Format::PPROF), None, Depth::Bounded).unwrap().format.name(),
            "pprof"
        );
        assert!(answer(b"\x32\x00").starts_with("pprof (certain)"), "{}", answer(b"\x32\x00"));
        assert!(
            answer(b"\x0a\x00").starts_with("otlp-1.10 (the same as otlp-1.9"),
            "{}",
            answer(b"\x0a\x00")
        );
    }

    #[test]
    fn files_of_other_kinds_are_named() {
        for (bytes, name) in [
            (&b"FLR\0\0\x02"[..], "Java Flight Recorder"),
            (b"PERFILE2\x68", "perf.data"),
            (b"\x28\xb5\x2f\xfd\x24", "zstd"),
            (b"\x7fELF\x02", "ELF"),
            (b"{\"resourceSpans\":[]}", "OTLP traces as JSON"),
            (b" \n{\"a\":1}", "JSON"),
            (b"heap profile: 1: 2 [3: 4] @ heap_v2/1\n", "heap profile in pprof's old text form"),
            (b"goroutine profile: total 3\n1 @ 0x1\n", "Go count profile"),
            (b"--- contentionz 1 ---\n", "contention profile"),
            (b"--- threadz 1 ---\n", "thread profile"),
            (b"main;run;poll 42\nmain;idle 7\n", "folded stacks"),
            (b"\0\0\0\0\x03\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0", "gperftools' old binary form"),
            (b"hello, world\n", "plain text"),
            (b"\xff\xfe\xfd", "not a complete protobuf message"),
            (b"\x78\x01", "this is a protobuf message of an unknown type"),
        ] {
            let answer = answer(bytes);
            assert!(answer.contains(name), "{name}: {answer}");
        }
    }

    #[test]
    fn a_generation_is_detected_by_being_registered() {
        let newest = payload(&[(1, Ok(1)), (2, Err(vec![1])), (4, Err(vec![9]))]);
        let decide = |formats: &[Format]| {
            let candidates = candidates(formats);
            decide::decide(&candidates, &newest, None, None, Depth::Bounded).ok().flatten()
        };
        let detected = decide(Format::ALL).unwrap();
        assert_eq!((detected.format.name(), detected.certainty), ("otlp-1.10", Certainty::Certain));
        assert!(
            detected.evidence[0]
                .starts_with("Sample field 4 is packed: values of otlp-1.10, not of otlp-1.9")
        );
        let others: Vec<_> =
            Format::ALL.iter().copied().filter(|format| *format != Format::OTLP).collect();
        let detected = decide(&others);
        assert!(
            detected.as_ref().is_none_or(|other| other.certainty == Certainty::Nearest),
            "{detected:?}"
        );
    }
}
