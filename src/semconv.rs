//! Names of OpenTelemetry's semantic conventions for profiles.
//!
//! Conversions and accessors use these names. A field that exists only in pprof or in an older generation of OTLP
//! becomes an attribute with one of these names in the model, and a field again in formats that have it. See the
//! registries of [pprof](https://opentelemetry.io/docs/specs/semconv/registry/attributes/pprof/),
//! [profile](https://opentelemetry.io/docs/specs/semconv/registry/attributes/profile/) and
//! [process](https://opentelemetry.io/docs/specs/semconv/registry/attributes/process/).
//!
//! ```
//! use otlp_profiles::semconv;
//! # let bytes = std::fs::read("testdata/gperftools-cpu.pb.gz").unwrap();
//! let profiles = otlp_profiles::read(&bytes, &Default::default())?.profiles;
//! let attributes = profiles.entries().next().unwrap().attributes();
//! assert!(attributes.get_str(semconv::PPROF_PROFILE_DROP_FRAMES).is_some());
//! # Ok::<(), otlp_profiles::Error>(())
//! ```

/// Whether the mapping's functions have names (bool, on a mapping).
/// `Mapping.has_functions` of pprof: if true, symbolizers can skip this binary when they look for names.
pub const PPROF_MAPPING_HAS_FUNCTIONS: &str = "pprof.mapping.has_functions";
/// Whether the mapping's functions have file names (bool, on a mapping).
/// `Mapping.has_filenames` of pprof.
pub const PPROF_MAPPING_HAS_FILENAMES: &str = "pprof.mapping.has_filenames";
/// Whether the mapping's locations have line numbers (bool, on a mapping).
/// `Mapping.has_line_numbers` of pprof.
pub const PPROF_MAPPING_HAS_LINE_NUMBERS: &str = "pprof.mapping.has_line_numbers";
/// Whether the mapping's locations include inlined frames (bool, on a mapping).
/// `Mapping.has_inline_frames` of pprof.
pub const PPROF_MAPPING_HAS_INLINE_FRAMES: &str = "pprof.mapping.has_inline_frames";
/// Whether several functions with identical code share the location (bool, on a location).
/// `Location.is_folded` of pprof: the linker merged the functions (identical code folding), so the name shown may
/// belong to another function.
pub const PPROF_LOCATION_IS_FOLDED: &str = "pprof.location.is_folded";
/// Free text about the profile (string array, on a profile).
/// `Profile.comment` of pprof.
pub const PPROF_PROFILE_COMMENT: &str = "pprof.profile.comment";
/// A regular expression that matches frames to drop (string, on a profile).
/// `Profile.drop_frames` of pprof. This crate drops no frames; the program that shows the profile does.
pub const PPROF_PROFILE_DROP_FRAMES: &str = "pprof.profile.drop_frames";
/// A regular expression that matches frames to keep even if `drop_frames` matches them (string, on a profile).
/// `Profile.keep_frames` of pprof.
pub const PPROF_PROFILE_KEEP_FRAMES: &str = "pprof.profile.keep_frames";
/// The URL of documentation for the profile (string, on a profile).
/// `Profile.doc_url` of pprof.
pub const PPROF_PROFILE_DOC_URL: &str = "pprof.profile.doc_url";
/// The sample type to show first, if the profiles of a scope disagree on it (string, on a profile).
/// This name is not part of the conventions; it follows the name for scopes.
pub const PPROF_PROFILE_DEFAULT_SAMPLE_TYPE: &str = "pprof.profile.default_sample_type";
/// The sample type to show first (string, on a scope).
/// `Profile.default_sample_type` of pprof and of OTLP up to 1.7. It applies to a scope because a pprof becomes one
/// scope.
pub const PPROF_SCOPE_DEFAULT_SAMPLE_TYPE: &str = "pprof.scope.default_sample_type";
/// For each profile of the scope, the index of its sample type in the pprof (int array, on a scope).
/// The pprof writer uses it to restore the columns of one pprof in their original order.
pub const PPROF_SCOPE_SAMPLE_TYPE_ORDER: &str = "pprof.scope.sample_type_order";

/// The build id written by the GNU linker (string, on a mapping).
/// The hex digits of the note `NT_GNU_BUILD_ID`. pprof's field `build_id` becomes this attribute if its value looks
/// like such an id.
pub const BUILD_ID_GNU: &str = "process.executable.build_id.gnu";
/// The build id written by the Go linker (string, on a mapping).
/// The text that `go tool buildid` prints.
pub const BUILD_ID_GO: &str = "process.executable.build_id.go";
/// A hash of the head and tail of the binary (string, on a mapping).
/// For binaries without a GNU or Go build id; `builder::htlhash` (feature `build-id`) computes it.
pub const BUILD_ID_HTLHASH: &str = "process.executable.build_id.htlhash";
/// The build ids in order of preference.
pub(crate) const BUILD_IDS: [&str; 3] = [BUILD_ID_GNU, BUILD_ID_GO, BUILD_ID_HTLHASH];

/// The kind of code of a frame (string, on a location).
/// For example `native`, `kernel`, `jvm`, `cpython`, `go`.
pub const PROFILE_FRAME_TYPE: &str = "profile.frame.type";

/// The sample label with the trace id, 32 hex digits.
/// Together with [`LABEL_SPAN_ID`] it becomes a link when a pprof is read, and labels again when one is written.
pub const LABEL_TRACE_ID: &str = "trace_id";
/// The sample label with the span id, 16 hex digits.
pub const LABEL_SPAN_ID: &str = "span_id";
/// The numeric sample label that profilers commonly use for the time of a sample, in nanoseconds since 1970.
/// [`Timestamps::Label`](crate::format::Timestamps::Label) writes it;
/// [`ReadOptions::timestamp_label`](crate::ReadOptions::timestamp_label) reads it.
pub const LABEL_END_TIMESTAMP_NS: &str = "end_timestamp_ns";

/// Frame types whose name in the OTEP's comment (left) differs from the name in the conventions (right).
/// The model uses the right names. Readers and writers translate for generations whose locations have a field for
/// the type.
pub const FRAME_TYPES: [(&str, &str); 2] = [("python", "cpython"), ("hotspot", "jvm")];
