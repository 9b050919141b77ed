//! Every public type can be sent to and shared between threads.
#![cfg(all(
    feature = "arrow",
    feature = "osprofiler-headers",
    feature = "columns",
    feature = "parquet",
    feature = "fuzzing",
    feature = "check",
    feature = "summary",
    feature = "transform"
))]

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use crate::support::sources;

type Buffer = Vec<u8>;
type Memory = std::io::Cursor<Vec<u8>>;

fn sent<T: Send + Sync>() {}

/// Checks types at compile time and returns their names.
macro_rules! types {
    ($($($module:ident)::+ { $($name:ident $(<$($argument:tt),+>)?),+ $(,)? })+) => {{
        $({
            use otlp_profiles::$($module)::+::*;
            $(sent::<$name $(<$($argument),+>)?>();)+
        })+
        BTreeSet::from([$($(stringify!($name)),+),+])
    }};
}

fn checked() -> BTreeSet<&'static str> {
    sent::<(
        otlp_profiles::Builder,
        otlp_profiles::Dictionary,
        otlp_profiles::Error,
        otlp_profiles::Format,
    )>();
    sent::<(otlp_profiles::ReadOptions, otlp_profiles::Reader<File>, otlp_profiles::Reading)>();
    sent::<(
        otlp_profiles::Profiles,
        otlp_profiles::Profile,
        otlp_profiles::Limits,
        otlp_profiles::Policy,
    )>();
    sent::<otlp_profiles::OutputLimit>();
    sent::<(otlp_profiles::WriteOptions, otlp_profiles::Written, otlp_profiles::Summary)>();
    sent::<(
        otlp_profiles::Ambiguity,
        otlp_profiles::ErrorKind,
        otlp_profiles::ReadFinding,
        otlp_profiles::Severity,
    )>();
    let mut checked = types! {
        builder {
            Dropped, Frame<'static>, Interval<'static>, Key<u8>, Nanos, NewEntity<'static>, NewFunction<'static>,
            NewLine, NewLocation<'static>, NewMapping<'static>, NewSample<'static>, NewValue<'static>,
            OrderedFrames<u8>, ProcessMapping, ProcessMappings, ProfileMut<'static>, ResourceMut<'static>,
            ScopeMut<'static>, StringRef<'static>, Upscaling, ValueAndUnit<'static>, WhenFull,
        }
        check { Baseline, Change, Finding, Fixed<'static>, Known, NotFixed, Options, Profcheck, Report, Rule, RuleCount }
        check::output { Checked, Document, Form, FixSummary, Unread }
        columns {
            Array, ArrowWriter<Buffer>, Batch<'static>, Column, Dataset, Encoding, Kind, PageCompression, ParquetWriter<Buffer>, Part, Partition,
            ProfileRow<'static>, Restored, Segment<Memory>, SegmentFiles, SegmentOptions, Table,
            TableFormat, Tables<Memory>, Values,
        }
        compression { Level }
        detect { Certainty, Detected, Endpoint }
        format {
            Dialect, EventTime, Layout, OsProfilerHeaders<'static>, Receiver, SourceOptions, StringEncoding, TimeUnit,
            Timestamps,
        }
        framing { Framing, Messages<'static> }
        fuzzing { Case, File, Payload, Random }
        look {
            Options,
            By, Call, Filter, Header, Inline, Pattern, Row, TagFilter, Top, Trace, Traces, Tree, TreeRow, Trimmed,
        }
        losses { Loss, LossCode, LossKind, Losses, Verdict }
        model {
            AggregationTemporality, Attribute, AttributeList<'static>, AttributeOwner, AttributeRef<'static>,
            Attributes<'static>, AttributesMut<'static>, EntityRef, Entry<'static>, FrameRef<'static>, Function,
            KeyValue, Line, Link, Locations, Mapping, Mappings, ProfileId, ProfileIter<'static>, Ragged<u8>, Resource,
            ResourceProfiles, SampleIter<'static>, SampleRef<'static>, SampleType<'static>, Samples, Scalar<'static>, Scope, ScopeProfiles,
            StringField, Strings, Value, ValueRef<'static>, ValueType,
        }
        response { Encoding, ExportResponse, Status }
        stream { MessageReader<u8> }
        summary { CompactSize, FieldSize, ProfileSummary<'static>, Sizes, StackSize, StringSize, TableRows, TableSize }
        units { Dimension, Unit }
        transform {
            Caution, Covered, AggregatorOptions, Columns, Combine, DeltaOptions, Diff, DiffBy, DiffMode, DiffOptions<'static>,
            DiffProfile, DiffRow, Expression, Gate<'static>, GateKind, GateReport, GateRow, GateRule, InputTypes, Judgement, Keep,
            MaxBytes, MergeOptions, Merged, Merger, Noise, Part, Pipeline, Published, RateOptions, Redactor<'static>,
            ResourceKeys, Snapshots, SplitBy, Stage, Strip, Target,
        }
    };
    checked.extend([
        "Ambiguity",
        "Builder",
        "Dictionary",
        "Error",
        "ErrorKind",
        "Format",
        "Limits",
        "OutputLimit",
        "Policy",
        "Profile",
        "Profiles",
        "ReadFinding",
        "ReadOptions",
        "Reader",
        "Reading",
        "Severity",
        "Summary",
        "WriteOptions",
        "Written",
    ]);
    checked
}

/// Types that are declared `pub` and not exported.
const NOT_EXPORTED: [&str; 8] = [
    "EventClock",
    "EventForm",
    "LazyBox",
    "Order",
    "ProfileParts",
    "ReadContext",
    "ResourceParts",
    "ScopeParts",
];

#[test]
fn every_public_type_is_send_and_sync() {
    let checked = checked();
    let mut files = Vec::new();
    sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")), &mut files);
    let mut found = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines() {
            let name = line.strip_prefix("pub struct ").or(line.strip_prefix("pub enum "));
            let name = name.map(|name| {
                name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
            });
            found.extend(name);
        }
    }
    let missing: Vec<_> = found.iter().filter(|name| !checked.contains(&name[..])).collect();
    assert_eq!(missing, NOT_EXPORTED, "add new types to the list");
}
