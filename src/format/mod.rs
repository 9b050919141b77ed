//! Formats: each reads bytes into [`Profiles`], writes [`Profiles`] to bytes, or both.
//!
//! [`Format`] lists them. The options here choose among the forms that a format permits.

mod assembly;
mod codec;
mod decimal;
pub(crate) mod detect;
mod events;
#[cfg(feature = "firefox")]
mod firefox;
#[cfg(feature = "formats")]
mod folded;
pub(crate) mod json;
#[cfg(feature = "formats")]
mod legacy;
pub(crate) mod line_reader;
mod lines;
mod names;
#[cfg(feature = "formats")]
mod osprofiler;
pub(crate) mod otlp;
#[cfg(feature = "formats")]
mod perf;
pub(crate) mod pprof;
mod receiver;
#[cfg(feature = "formats")]
mod speedscope;
mod tool_losses;

pub use crate::source_options::{Dialect, EventTime, SourceOptions, TimeUnit};
pub use crate::write_options::{Layout, StringEncoding, Timestamps};
pub(crate) use codec::{Codec, Encoding, Read, ReadLines};
#[cfg(feature = "osprofiler-headers")]
pub use osprofiler::headers::OsProfilerHeaders;
pub use receiver::Receiver;

use crate::error::{Error, ErrorKind, Result};
use crate::format::line_reader::LineReader;
use crate::losses::Losses;
use crate::model::Profiles;
use crate::read_context::ReadContext;
use crate::schema::Version;
use crate::tables::layout;
use crate::write_options::WriteOptions;

/// A format: pprof, a generation of OTLP profiles, OTLP/JSON, or a format of another tool.
///
/// Some formats are read-only, some write-only: see [`can_read`](Self::can_read) and
/// [`can_write`](Self::can_write). `Format` is a small `Copy` value with a constant for each format.
/// [`Format::ALL`] lists them. Names parse: `"pprof"`, `"otlp"` (the newest generation), `"otlp-1.9"` or `"1.9"`.
///
/// ```
/// use otlp_profiles::Format;
///
/// assert_eq!(Format::OTLP, Format::OTLP_1_10);
/// assert_eq!(Format::OTLP.to_string(), "otlp-1.10");
/// assert_eq!("1.9".parse::<Format>()?, Format::OTLP_1_9);
/// assert_eq!(Format::of_path("cpu.pb.gz".as_ref()), Some(Format::PPROF));
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// The constants are patterns. Minor releases may add formats, so a `match` needs a wildcard arm:
///
/// ```
/// use otlp_profiles::Format;
///
/// let version = |format| match format {
///     Format::OTLP_1_9 => "1.9",
///     Format::OTLP_1_10 => "1.10 or 1.11",
///     other => other.name(),
/// };
/// assert_eq!(version(Format::OTLP_1_10), "1.10 or 1.11");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Format(u8);

/// Declares the formats: the constant, the registry entry and the place in [`Format::ALL`] of each.
macro_rules! formats {
    ($($(#[doc = $doc:literal])* $(#[cfg($only:meta)])? $name:ident = $codec:path;)*) => {
        /// The number of each format: its row in [`CODECS`].
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Row {
            $($(#[cfg($only)])? $name,)*
        }

        /// The formats, by the number in a [`Format`].
        static CODECS: &[&Codec] = &[$($(#[cfg($only)])? &$codec,)*];

        impl Format {
            $(
                $(#[doc = $doc])*
                $(#[cfg($only)])?
                pub const $name: Self = Self(Row::$name as u8);
            )*

            /// All formats, the newest generation of OTLP first.
            pub const ALL: &'static [Self] = &[$($(#[cfg($only)])? Self::$name,)*];
        }
    };
}

formats! {
    /// OTLP 1.10 and 1.11.
    /// Current receivers read this generation.
    OTLP_1_10 = otlp::OTLP_1_10;
    /// OTLP 1.9.
    OTLP_1_9 = otlp::OTLP_1_9;
    /// OTLP 1.8.
    /// The first with one sample type per profile and a stack table.
    OTLP_1_8 = otlp::OTLP_1_8;
    /// OTLP 1.7.
    /// The first with the tables in a `ProfilesDictionary`.
    OTLP_1_7 = otlp::OTLP_1_7;
    /// OTLP 1.6, which has tables only in files.
    OTLP_1_6 = otlp::OTLP_1_6;
    /// OTLP 1.5.
    OTLP_1_5 = otlp::OTLP_1_5;
    /// OTLP 1.4.
    /// The first in package `v1development`.
    OTLP_1_4 = otlp::OTLP_1_4;
    /// OTLP 1.3: OTEP 0239, package `v1experimental`.
    OTLP_1_3 = otlp::OTLP_1_3;
    /// OTLP/JSON: written as the newest generation, read as any.
    /// Ids are hex digits, as [OTLP](https://opentelemetry.io/docs/specs/otlp/) specifies.
    OTLP_JSON = json::OTLP_JSON;
    /// pprof's `profile.proto`.
    /// One profile per payload, gzipped in files.
    PPROF = pprof::PPROF;
    /// Timestamped events, a proposal (opentelemetry-proto 594) that was never released.
    EVENTS = events::EVENTS;
    /// Folded stacks, plain and with the attributes of OTEP 0239.
    #[cfg(feature = "formats")]
    FOLDED = folded::FOLDED;
    /// speedscope files.
    #[cfg(feature = "formats")]
    SPEEDSCOPE = speedscope::SPEEDSCOPE;
    /// The text of Linux's `perf script`, read-only.
    #[cfg(feature = "formats")]
    PERF_SCRIPT = perf::PERF_SCRIPT;
    /// Legacy profiles that pprof reads, from Go, gperftools and jemalloc, read-only.
    #[cfg(feature = "formats")]
    PPROF_LEGACY = legacy::PPROF_LEGACY;
    /// Messages and reports of OpenStack's OSProfiler, read-only.
    #[cfg(feature = "formats")]
    OSPROFILER = osprofiler::OSPROFILER;
    /// Firefox Profiler files, write-only.
    #[cfg(feature = "firefox")]
    FIREFOX = firefox::FIREFOX;
}

impl Format {
    /// The newest generation of OTLP profiles. It changes when a release of this crate adds a generation.
    ///
    /// Name the generation, such as [`OTLP_1_10`](Self::OTLP_1_10), if you store payloads or send them to a
    /// receiver that you do not update together with this crate.
    pub const OTLP: Self = Self::OTLP_1_10;

    /// Returns the name, as `--from` and `--to` accept it: `pprof`, `otlp-1.10`.
    pub fn name(self) -> &'static str {
        self.codec().name
    }

    /// Returns alternative names.
    /// `otlp` is an alias of the newest generation.
    pub fn aliases(self) -> &'static [&'static str] {
        self.codec().aliases
    }

    /// Returns a one-line description, as the command's help shows it.
    pub fn about(self) -> &'static str {
        self.codec().about
    }

    /// Returns the file name extensions of the format, without the dot and without `.gz` or `.zst`. Output files get the
    /// first. All generations of OTLP share theirs.
    pub fn extensions(self) -> &'static [&'static str] {
        self.codec().extensions
    }

    /// Returns whether files of this format are gzipped by convention, whatever their name.
    /// [`write()`](crate::write()) does not compress: use [`deflate`](crate::compression::deflate).
    pub fn is_gzip_on_disk(self) -> bool {
        self.codec().gzip_on_disk
    }

    /// Returns the reason not to write the format any more, if it is deprecated.
    /// Deprecated formats can still be written.
    pub fn deprecated(self) -> Option<&'static str> {
        self.codec().deprecated
    }

    /// Returns whether the format is a generation of OTLP or OTLP/JSON.
    pub fn is_otlp(self) -> bool {
        matches!(self.codec().encoding, Encoding::Otlp(_) | Encoding::OtlpJson)
    }

    /// Returns whether payloads of the format are JSON.
    pub fn is_json(self) -> bool {
        matches!(self.codec().encoding, Encoding::OtlpJson | Encoding::Own { json: true })
    }

    /// Returns whether the crate reads the format.
    ///
    /// ```
    /// use otlp_profiles::Format;
    /// let only_read = Format::ALL.iter().filter(|format| !format.can_write());
    /// assert!(only_read.clone().any(|format| *format == Format::PERF_SCRIPT));
    /// ```
    pub fn can_read(self) -> bool {
        self.codec().read.is_some()
    }

    /// Returns whether the crate writes the format.
    pub fn can_write(self) -> bool {
        self.codec().write.is_some()
    }

    /// Returns whether the format represents all of a pprof, and most of OTLP, so that a round trip changes
    /// no pprof. The other formats are those of other tools. They represent less, and [`Losses`] lists the
    /// rest.
    ///
    /// ```
    /// use otlp_profiles::Format;
    ///
    /// assert!(Format::OTLP.is_whole() && Format::PPROF.is_whole());
    /// assert!(!Format::FOLDED.is_whole());
    /// ```
    pub fn is_whole(self) -> bool {
        !matches!(self.codec().encoding, Encoding::Own { .. } | Encoding::Events)
    }

    /// Returns the names of the options that apply to this format only: options of [`SourceOptions`], of
    /// [`ReadOptions`](crate::ReadOptions) and of the options for writing.
    ///
    /// ```
    /// use otlp_profiles::Format;
    ///
    /// assert!(Format::FOLDED.options().contains(&"columns"));
    /// assert!(Format::PPROF_LEGACY.options().is_empty());
    /// ```
    pub fn options(self) -> &'static [&'static str] {
        self.codec().options
    }

    fn codec(self) -> &'static Codec {
        CODECS[usize::from(self.0)]
    }

    pub(crate) fn encoding(self) -> Encoding {
        self.codec().encoding
    }

    /// Returns the version of the schema if the format is a generation of OTLP.
    pub(crate) fn schema(self) -> Option<Version> {
        match self.codec().encoding {
            Encoding::Otlp(version) => Some(version),
            Encoding::OtlpJson | Encoding::Pprof | Encoding::Events | Encoding::Own { .. } => None,
        }
    }

    pub(crate) fn read(self, payload: &[u8], cx: &mut ReadContext) -> Result<Profiles> {
        let Some(read) = &self.codec().read else {
            return Err(Error::new(ErrorKind::Unrecognised, format!("{self} is write-only")));
        };
        self.check_options(cx.source.specified(), Self::can_read)?;
        match read {
            Read::Bytes(read) => read(payload, cx),
            Read::Lines(read) => read(&mut LineReader::of(payload), cx),
        }
    }

    /// Returns the function that reads the format from lines, if it has one.
    pub(crate) fn lines(self) -> Option<ReadLines> {
        match self.codec().read {
            Some(Read::Lines(read)) => Some(read),
            _ => None,
        }
    }

    pub(crate) fn write(
        self,
        profiles: &Profiles,
        options: &WriteOptions,
        losses: &mut Losses,
        spare: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>> {
        match self.codec().write {
            Some(write) => {
                self.check_options(options.specified(), Self::can_write)?;
                if !self.has_event_form() {
                    events::count_event_losses(profiles, losses);
                }
                let rejoined = if self.has_columns() { layout::rejoined(profiles) } else { None };
                write(rejoined.as_ref().unwrap_or(profiles), options, losses, spare)
            }
            None => Err(Error::new(ErrorKind::Unrepresentable, format!("{self} is read-only"))),
        }
    }

    /// Returns whether a profile of this format may have several sample types.
    fn has_columns(self) -> bool {
        match self.encoding() {
            Encoding::Otlp(version) => version.capabilities().several_sample_types,
            Encoding::OtlpJson | Encoding::Events => false,
            Encoding::Pprof | Encoding::Own { .. } => true,
        }
    }

    /// Returns whether the format stores how timestamped events were counted.
    fn has_event_form(self) -> bool {
        match self.encoding() {
            Encoding::Events => true,
            Encoding::Otlp(_) | Encoding::OtlpJson | Encoding::Pprof | Encoding::Own { .. } => {
                false
            }
        }
    }

    /// Returns an error if the format does not support one of the given options. `can` selects the formats
    /// that the error suggests: those that can be read, or those that can be written.
    pub(crate) fn check_options(
        self,
        mut given: impl Iterator<Item = &'static str>,
        can: fn(Self) -> bool,
    ) -> Result<()> {
        match given.find(|name| !self.options().contains(name)) {
            None => Ok(()),
            Some(name) => Err(self.unsupported_option(name, can)),
        }
    }

    #[cold]
    fn unsupported_option(self, name: &str, can: fn(Self) -> bool) -> Error {
        let takes = |format: &&Self| can(**format) && format.options().contains(&name);
        let takers: Vec<_> = Self::ALL.iter().filter(takes).map(|format| format.name()).collect();
        let takers = takers.join(", ");
        let message = format!("{name} does not apply to {self}: it applies to {takers}");
        Error::new(ErrorKind::InvalidOption, message)
    }
}

impl Receiver {
    /// Returns the format that the receiver accepts. All current receivers accept the same one.
    pub fn format(self) -> Format {
        match self {
            Self::Collector | Self::Parca | Self::Pyroscope => Format::OTLP_1_10,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_name_and_alias_parses_to_its_format() {
        for &format in Format::ALL {
            for name in format.aliases().iter().copied().chain([format.name()]) {
                assert_eq!(name.parse().ok(), Some(format), "{name}");
            }
        }
        assert_eq!("1.3".parse().ok(), Some(Format::OTLP_1_3));
        for wrong in ["", "otlp-2", "json-", "OTLP", "2"] {
            let error = wrong.parse::<Format>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("unknown format {wrong:?}; ")), "{error}");
        }
    }

    #[test]
    fn the_longest_extension_decides() {
        let of = |name: &str| Format::of_path(Path::new(name));
        for (name, format) in [
            ("d/x.pb.gz", Some(Format::PPROF)),
            ("x.PPROF", Some(Format::PPROF)),
            ("x.otlp", Some(Format::OTLP)),
            ("x.otlp.gz", Some(Format::OTLP)),
            ("x.otlp.json", Some(Format::OTLP_JSON)),
            (".pb", None),
            ("x.folded", Some(Format::FOLDED)),
            ("x.speedscope.json", Some(Format::SPEEDSCOPE)),
            ("x.txt", None),
            ("x", None),
        ] {
            assert_eq!(of(name), format, "{name}");
        }
    }

    /// Small enough for Miri, but for the texts of JSON.
    #[test]
    fn a_profile_survives_each_format_of_otlp_and_pprof() {
        use crate::{Policy, ReadOptions, WriteOptions, read, write};

        let options = ReadOptions::default().policy(Policy::Repair);
        let bytes = std::fs::read("testdata/otlp-1.3-simple.binpb").unwrap();
        let profiles = read(&bytes, &options).unwrap().profiles;
        for &format in Format::ALL {
            let is_json = cfg!(miri) && format.is_json();
            if is_json || format.schema().is_none() && format != Format::PPROF {
                continue;
            }
            let options = options.clone().format(format);
            let again = |profiles: &crate::Profiles| {
                let payload = write(profiles, format, &WriteOptions::default()).unwrap().payload;
                let back = read(&payload, &options).unwrap().profiles;
                (payload, back)
            };
            // The first payload lacks what the format cannot represent.
            let (payload, back) = again(&again(&profiles).1);
            assert!(again(&back).0 == payload, "{format}");
        }
    }
}
