//! Folded stacks: one line for each stack, root first, followed by its value.
//!
//! ```text
//! main;run;poll 42                                         plain
//! main;run;poll 42 region=us,n=5                           with attributes, as OTEP 0239 shows them
//! main;run;poll 1,2 - 1687841528000000000,1687841529000000000    with a value for each timestamp
//! ```
//!
//! ```text
//! line   = stack SP ints [SP attrs [SP stamps]]        ints, stamps = int *("," int)
//! attrs  = "-" / pair *("," pair)                      pair = key "=" ( word / DQUOTE *( char / "\" char ) DQUOTE )
//! ```
//!
//! The plain form is that of Brendan Gregg's stackcollapse scripts, and every flame graph tool reads it. The
//! extended form is the one in which OTEP 0239 shows samples. Both use the same file extensions, so the
//! reader decides by content: a line is extended if its end parses as such.
//!
//! ```text
//! Text ─► Lines ─► header   options, and austin's comments: types, factors, interval
//!              └─► line     stack │ values │ attributes │ timestamps
//!                    └─► StackTexts ─► dialect ─► locations ─► a sample of its process
//! ```
//!
//! A long file has many lines, but few distinct stacks. So a read takes memory for distinct stacks and for
//! samples only, and a line with a known stack costs one lookup.
//!
//! | in a line | in the model |
//! |---|---|
//! | frames | functions by name, innermost last; no mapping, no address |
//! | `trace_id=…,span_id=…` | a link |
//! | `process 12:"cmd"`, `P12` of a dialect | a resource with `process.pid`, `process.command_line` |
//! | `thread (7): name`, `T0:7` of a dialect | `thread.id`, `thread.name` of the sample |
//! | several columns | sample types of one profile |

mod attributes;
mod dialect;
mod header;
pub(crate) mod line;
mod read;
mod stack_texts;
mod write;

use crate::format::{Codec, Encoding, Read};

/// Folded stacks as a format.
///
/// ```
/// use otlp_profiles::{Format, WriteOptions, read, write};
///
/// let line = b"foo;bar 2 region=us 1687841528000000000,1687841529000000000\n";
/// let profiles = read(line, &Default::default())?.profiles;
/// let otlp = write(&profiles, Format::OTLP, &Default::default())?.payload;
///
/// let profiles = read(&otlp, &Default::default())?.profiles;
/// // Flame graph tools take a stack and a number.
/// let folded = write(&profiles, Format::FOLDED, &WriteOptions::default())?.payload;
/// assert_eq!(folded, b"foo;bar 2\n");
/// let options = WriteOptions::default().folded_labels(true);
/// let folded = write(&profiles, Format::FOLDED, &options)?.payload;
/// assert_eq!(folded, line);
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
pub(crate) static FOLDED: Codec = Codec {
    name: "folded",
    aliases: &["collapsed"],
    about: "folded stacks for flame graphs: a stack and a value on each line",
    extensions: &["folded", "collapsed", "otep.folded"],
    gzip_on_disk: false,
    deprecated: None,
    encoding: Encoding::Own { json: false },
    read: Some(Read::Lines(read::read)),
    write: Some(write::write),
    options: &[
        "type",
        "columns",
        "dialect",
        "annotations",
        "timestamp-unit",
        "scale",
        "no-links",
        "folded-labels",
    ],
};
