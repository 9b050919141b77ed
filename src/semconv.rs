//! Names of OpenTelemetry's semantic conventions for profiles.
//!
//! Conversions and accessors use these names. A field that only pprof or an older generation of OTLP has becomes
//! an attribute with one of these names in the model, and a field again in a format that has one. See
//! the registries of [pprof](https://opentelemetry.io/docs/specs/semconv/registry/attributes/pprof/),
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

/// Whether the mapping's functions are named (bool, on a mapping).
/// `Mapping.has_functions` of pprof: symbolisation need not look for names in this binary any more.
pub const PPROF_MAPPING_HAS_FUNCTIONS: &str = "pprof.mapping.has_functions";
/// Whether the mapping's files are named (bool, on a mapping).
/// `Mapping.has_filenames` of pprof.
pub const PPROF_MAPPING_HAS_FILENAMES: &str = "pprof.mapping.has_filenames";
/// Whether the mapping's lines are numbered (bool, on a mapping).
/// `Mapping.has_line_numbers` of pprof.
pub const PPROF_MAPPING_HAS_LINE_NUMBERS: &str = "pprof.mapping.has_line_numbers";
/// Whether the mapping's inlined frames are told (bool, on a mapping).
/// `Mapping.has_inline_frames` of pprof.
pub const PPROF_MAPPING_HAS_INLINE_FRAMES: &str = "pprof.mapping.has_inline_frames";
/// Several functions of equal code share the location (bool, on a location).
/// `Location.is_folded` of pprof: the linker folded them (identical code folding), so the name shown may be
/// another's.
pub const PPROF_LOCATION_IS_FOLDED: &str = "pprof.location.is_folded";
/// Free text about the profile (string array, on a profile).
/// `Profile.comment` of pprof.
pub const PPROF_PROFILE_COMMENT: &str = "pprof.profile.comment";
/// A regular expression: frames to drop (string, on a profile).
/// `Profile.drop_frames` of pprof. Nothing is dropped by this crate: that is for whoever shows it.
pub const PPROF_PROFILE_DROP_FRAMES: &str = "pprof.profile.drop_frames";
/// A regular expression: frames to keep though they match the former (string, on a profile).
/// `Profile.keep_frames` of pprof.
pub const PPROF_PROFILE_KEEP_FRAMES: &str = "pprof.profile.keep_frames";
/// Where the profile is explained (string, on a profile).
/// `Profile.doc_url` of pprof.
pub const PPROF_PROFILE_DOC_URL: &str = "pprof.profile.doc_url";
/// The sample type to show first, where the profiles of a scope do not agree on one (string, on a
/// profile). No convention, but made after that for scopes.
pub const PPROF_PROFILE_DEFAULT_SAMPLE_TYPE: &str = "pprof.profile.default_sample_type";
/// The sample type to show first (string, on a scope).
/// `Profile.default_sample_type` of pprof and of OTLP up to 1.7, as the profiles of one pprof are one scope.
pub const PPROF_SCOPE_DEFAULT_SAMPLE_TYPE: &str = "pprof.scope.default_sample_type";
/// For each profile of the scope, the index its sample type had in the pprof (int array, on a scope).
/// By it the profiles become the columns of one pprof again, in its order.
pub const PPROF_SCOPE_SAMPLE_TYPE_ORDER: &str = "pprof.scope.sample_type_order";

/// The build id the GNU linker wrote (string, on a mapping).
/// Hex digits of the note `NT_GNU_BUILD_ID`. pprof's one field `build_id` becomes this where it looks like one.
pub const BUILD_ID_GNU: &str = "process.executable.build_id.gnu";
/// The build id the Go linker wrote (string, on a mapping).
/// As `go tool buildid` prints it.
pub const BUILD_ID_GO: &str = "process.executable.build_id.go";
/// A hash of the head and tail of the binary (string, on a mapping).
/// For binaries without either of the others; `builder::htlhash` (feature `build-id`) makes it.
pub const BUILD_ID_HTLHASH: &str = "process.executable.build_id.htlhash";
/// The build ids, in the order in which one of several is chosen.
pub(crate) const BUILD_IDS: [&str; 3] = [BUILD_ID_GNU, BUILD_ID_GO, BUILD_ID_HTLHASH];

/// What kind of code a frame is (string, on a location).
/// Such as `native`, `kernel`, `jvm`, `cpython`, `go`.
pub const PROFILE_FRAME_TYPE: &str = "profile.frame.type";

/// The sample label that names a trace, 32 hex digits.
/// With [`LABEL_SPAN_ID`] it becomes a link when a pprof is read, and the label again when one is written.
pub const LABEL_TRACE_ID: &str = "trace_id";
/// The sample label that names a span, 16 hex digits.
pub const LABEL_SPAN_ID: &str = "span_id";
/// The numeric sample label in use for the time of a sample, in nanoseconds since 1970.
/// [`Timestamps::Label`](crate::format::Timestamps::Label) writes it; [`ReadOptions::timestamp_label`](crate::ReadOptions::timestamp_label) reads it.
pub const LABEL_END_TIMESTAMP_NS: &str = "end_timestamp_ns";

/// Frame types whose name differs between the OTEP's comment (left) and the conventions (right).
/// The model has the right ones: readers and writers of generations whose locations have a field for the type
/// translate.
pub const FRAME_TYPES: [(&str, &str); 2] = [("python", "cpython"), ("hotspot", "jvm")];
