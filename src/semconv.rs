//! Names of OpenTelemetry's semantic conventions for profiles.

/// Whether the mapping's functions are named (bool, on a mapping).
pub const PPROF_MAPPING_HAS_FUNCTIONS: &str = "pprof.mapping.has_functions";
/// Whether the mapping's files are named (bool, on a mapping).
pub const PPROF_MAPPING_HAS_FILENAMES: &str = "pprof.mapping.has_filenames";
/// Whether the mapping's lines are numbered (bool, on a mapping).
pub const PPROF_MAPPING_HAS_LINE_NUMBERS: &str = "pprof.mapping.has_line_numbers";
/// Whether the mapping's inlined frames are told (bool, on a mapping).
pub const PPROF_MAPPING_HAS_INLINE_FRAMES: &str = "pprof.mapping.has_inline_frames";
/// Several functions of equal code share the location (bool, on a location).
pub const PPROF_LOCATION_IS_FOLDED: &str = "pprof.location.is_folded";
/// Free text about the profile (string array, on a profile).
pub const PPROF_PROFILE_COMMENT: &str = "pprof.profile.comment";
/// A regular expression: frames to drop (string, on a profile).
pub const PPROF_PROFILE_DROP_FRAMES: &str = "pprof.profile.drop_frames";
/// A regular expression: frames to keep though they match the former (string, on a profile).
pub const PPROF_PROFILE_KEEP_FRAMES: &str = "pprof.profile.keep_frames";
/// Where the profile is explained (string, on a profile).
pub const PPROF_PROFILE_DOC_URL: &str = "pprof.profile.doc_url";
/// The sample type to show first, where the profiles of a scope do not agree on one (string, on a
/// profile). No convention, but made after that for scopes.
pub(crate) const PPROF_PROFILE_DEFAULT_SAMPLE_TYPE: &str = "pprof.profile.default_sample_type";
/// The sample type to show first (string, on a scope).
pub const PPROF_SCOPE_DEFAULT_SAMPLE_TYPE: &str = "pprof.scope.default_sample_type";
/// For each profile of the scope, the index its sample type had in the pprof (int array, on a scope).
pub const PPROF_SCOPE_SAMPLE_TYPE_ORDER: &str = "pprof.scope.sample_type_order";

/// The build id the GNU linker wrote (string, on a mapping).
pub const BUILD_ID_GNU: &str = "process.executable.build_id.gnu";
/// The build id the Go linker wrote (string, on a mapping).
pub const BUILD_ID_GO: &str = "process.executable.build_id.go";
/// A hash of the head and tail of the binary (string, on a mapping).
pub const BUILD_ID_HTLHASH: &str = "process.executable.build_id.htlhash";
/// The build ids, in the order in which one of several is chosen.
pub(crate) const BUILD_IDS: [&str; 3] = [BUILD_ID_GNU, BUILD_ID_GO, BUILD_ID_HTLHASH];

/// What kind of code a frame is (string, on a location).
pub const PROFILE_FRAME_TYPE: &str = "profile.frame.type";

/// The sample label that names a trace, 32 hex digits.
pub const LABEL_TRACE_ID: &str = "trace_id";
/// The sample label that names a span, 16 hex digits.
pub const LABEL_SPAN_ID: &str = "span_id";
/// The numeric sample label in use for the time of a sample, in nanoseconds since 1970.
pub const LABEL_END_TIMESTAMP_NS: &str = "end_timestamp_ns";

/// Frame types whose name differs between the OTEP's comment (left) and the conventions (right).
pub const FRAME_TYPES: [(&str, &str); 2] = [("python", "cpython"), ("hotspot", "jvm")];
