//! A valid payload of each generation.

use super::payload::Payload;
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::schema::{Rows, Version};

const STRINGS: [&str; 9] = [
    "",
    "cpu",
    "nanoseconds",
    "main",
    "main.c",
    "app",
    "k1",
    "process.executable.build_id.htlhash",
    "By",
];

/// The contents of a payload since 1.8: row 0 of each table is empty.
const NEW: &str = "$D.mapping_table[0]={}; $D.mapping_table[1].memory_start=4096;
    $D.mapping_table[1].memory_limit=8192; $D.mapping_table[1].filename_strindex=5;
    $D.mapping_table[1].attribute_indices[0]=2;
    $D.location_table[0]={}; $D.location_table[1].mapping_index=1; $D.location_table[1].address=4100;
    $D.location_table[1].$L[0].function_index=1; $D.location_table[1].$L[0].line=10;
    $D.function_table[0]={}; $D.function_table[1].name_strindex=3; $D.function_table[1].filename_strindex=4;
    $D.function_table[1].start_line=5;
    $D.link_table[0]={}; $D.link_table[1].trace_id=x01*16; $D.link_table[1].span_id=x02*8;
    $D.attribute_table[0]={}; $D.attribute_table[1].key_strindex=6;
    $D.attribute_table[1].value.string_value=\"v1\"; $D.attribute_table[1].unit_strindex=8;
    $D.attribute_table[2].key_strindex=7; $D.attribute_table[2].value.string_value=\"c0ffee00c0ffee00c0ffee00c0ffee00\";
    $D.stack_table[0]={}; $D.stack_table[1].location_indices[0]=1;
    $P.sample_type.type_strindex=1; $P.sample_type.unit_strindex=2;
    $P.time_unix_nano=1700000000000000000; $P.duration_nano=1000000000;
    $P.period_type.type_strindex=1; $P.period_type.unit_strindex=2; $P.period=10;
    $P.profile_id=x03*16;
    $S.stack_index=1; $S.link_index=1; $S.attribute_indices[0]=1; $S.values[0]=7;
    $S.timestamps_unix_nano[0]=1700000000000000001";

/// The contents of 1.4 to 1.7: rows count from 0, and samples have slices of locations.
const OLD: &str = "$T.mapping_table[0].memory_start=4096; $T.mapping_table[0].memory_limit=8192;
    $T.mapping_table[0].filename_strindex=5; $T.mapping_table[0].has_functions=1;
    $T.location_table[0].mapping_index=0; $T.location_table[0].address=4100;
    $T.location_table[0].line[0].line=10;
    $T.function_table[0].name_strindex=3; $T.function_table[0].filename_strindex=4;
    $T.function_table[0].start_line=5;
    $T.link_table[0].trace_id=x01*16; $T.link_table[0].span_id=x02*8;
    $T.attribute_table[0].key=\"k1\"; $T.attribute_table[0].value.string_value=\"v1\";
    $P.location_indices[0]=0;
    $P.sample_type[0].type_strindex=1; $P.sample_type[0].unit_strindex=2;
    $P.sample_type[0].aggregation_temporality=1;
    $P.time_nanos=1700000000000000000; $P.duration_nanos=1000000000;
    $P.period_type.type_strindex=1; $P.period_type.unit_strindex=2; $P.period=10;
    $P.profile_id=x03*16;
    $S.locations_length=1; $S.link_index=0; $S.attribute_indices[0]=0; $S.value[0]=7;
    $S.timestamps_unix_nano[0]=1700000000000000001";

const OTEP: &str = "$C.profile_id=x03*16; $C.start_time_unix_nano=1700000000000000000;
    $C.end_time_unix_nano=1700000001000000000;
    $P.mapping[0].memory_start=4096; $P.mapping[0].memory_limit=8192; $P.mapping[0].filename=5;
    $P.mapping[0].has_functions=1; $P.mapping[0].id=1;
    $P.location[0].id=1; $P.location[0].address=4100;
    $P.location[0].line[0].line=10;
    $P.function[0].id=1; $P.function[0].name=3; $P.function[0].filename=4; $P.function[0].start_line=5;
    $P.link_table[0].trace_id=x01*16; $P.link_table[0].span_id=x02*8;
    $P.attribute_table[0].key=\"k1\"; $P.attribute_table[0].value.string_value=\"v1\";
    $P.location_indices[0]=0;
    $P.sample_type[0].type=1; $P.sample_type[0].unit=2; $P.sample_type[0].aggregation_temporality=1;
    $P.period_type.type=1; $P.period_type.unit=2; $P.period=10;
    $S.locations_length=1; $S.attributes[0]=0; $S.value[0]=7;
    $S.timestamps_unix_nano[0]=1700000000000000001";

const PPROF: &str = "sample_type[0].type=1; sample_type[0].unit=2; period_type.type=1; period_type.unit=2;
    period=10; time_nanos=1700000000000000000; duration_nanos=1000000000;
    mapping[0].id=1; mapping[0].memory_start=4096; mapping[0].memory_limit=8192; mapping[0].filename=5;
    location[0].id=1; location[0].mapping_id=1; location[0].address=4100; location[0].line[0].function_id=1;
    location[0].line[0].line=10;
    function[0].id=1; function[0].name=3; function[0].filename=4; function[0].start_line=5;
    sample[0].location_id[0]=1; sample[0].value[0]=7; sample[0].label[0].key=6; sample[0].label[0].str=3";

/// Resource and scope of every generation of OTLP.
const AROUND: &str = "$R.resource.attributes[0].key=\"service.name\";
    $R.resource.attributes[0].value.string_value=\"shop\"; $K.scope.name=\"profiler\"";

/// The string table of the valid payload.
pub(super) fn strings(version: Version) -> &'static [&'static str] {
    let count = match version.capabilities().rows {
        _ if version == Version::Pprof => 7,
        Rows::NullFirst => STRINGS.len(),
        Rows::FromZero | Rows::Presence => 6,
    };
    &STRINGS[..count]
}

impl Payload {
    /// Creates a small payload that uses most fields and breaks no rule.
    ///
    /// # Errors
    ///
    /// The format is not one of OTLP's generations in protobuf or pprof.
    pub fn valid(format: Format) -> Result<Self> {
        let mut payload = Self::new(format)?;
        fill(&mut payload)?;
        Ok(payload)
    }
}

/// Fills an empty payload with a valid one.
fn fill(payload: &mut Payload) -> Result<()> {
    let version = payload.version;
    let (edits, table) = match version {
        Version::Events => {
            return Err(Error::new(
                ErrorKind::InvalidOption,
                "there is no valid payload of events",
            ));
        }
        Version::Pprof => (PPROF, "string_table"),
        Version::V1_3 => (OTEP, "$P.string_table"),
        _ if version.capabilities().rows == Rows::NullFirst => (NEW, "$D.string_table"),
        _ => (OLD, "$T.string_table"),
    };
    payload.edit(edits)?;
    if version == Version::V1_8 {
        payload.edit("$P.sample_type.aggregation_temporality=1")?;
    }
    for (row, string) in strings(version).iter().enumerate() {
        payload.edit(&format!("{table}[{row}]=\"{string}\""))?;
    }
    if version == Version::Pprof { Ok(()) } else { payload.edit(AROUND) }
}
