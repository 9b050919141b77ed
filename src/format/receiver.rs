//! Known receivers of OTLP profiles, and the forms that they support.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::write_options::{StringEncoding, WriteOptions};

/// A receiver of OTLP profiles, and the forms that its released versions support, as of 20 November 2026.
///
/// All of them read OTLP 1.10, in which a string is either inline or a reference into the dictionary. All of
/// them support inline strings in OTLP requests:
///
/// | receiver | strings [inline](StringEncoding::Inline) | [by reference](StringEncoding::Dictionary) |
/// |---|---|---|
/// | [`Collector`](Self::Collector) 0.148 – 0.160 | in OTLP requests; erases keys when it reads files ([#15793]) | in files; processors see empty keys in OTLP requests |
/// | [`Collector`](Self::Collector) 0.161 and later | yes | yes |
/// | [`Parca`](Self::Parca) 0.27, 0.28 | yes | rejected |
/// | [`Pyroscope`](Self::Pyroscope) 1.20 – 2.2 | yes | drops labels silently |
///
/// So only files for a Collector before 0.161 need strings by reference. Earlier releases of these receivers
/// read older generations: `docs/GENERATIONS.md` lists them with sources.
///
/// ```
/// use otlp_profiles::builder::root_first;
/// use otlp_profiles::format::Receiver;
/// use otlp_profiles::{Builder, WriteOptions};
///
/// let mut builder = Builder::new();
/// builder.resource().attr("service.name", "checkout");
/// let cpu = builder.profile("cpu", "nanoseconds");
/// builder.sample(cpu, root_first(["main", "serve"])).value(10_000_000);
///
/// let parca: Receiver = "parca".parse()?;
/// let options = WriteOptions::for_receiver(parca);
/// let written = otlp_profiles::write(&builder.finish()?, parca.format(), &options)?;
/// assert!(written.losses.is_empty());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
///
/// [#15793]: https://github.com/open-telemetry/opentelemetry-collector/issues/15793
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Receiver {
    /// The OpenTelemetry Collector, 0.148 and later.
    Collector,
    /// Parca, 0.27 and later.
    Parca,
    /// Grafana Pyroscope, 1.20 and later.
    Pyroscope,
}

impl Receiver {
    /// All receivers, in no particular order.
    pub const ALL: &'static [Self] = &[Self::Collector, Self::Parca, Self::Pyroscope];

    /// Returns the name, such as `collector`. It parses: `"collector".parse::<Receiver>()`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Collector => "collector",
            Self::Parca => "parca",
            Self::Pyroscope => "pyroscope",
        }
    }

    /// Returns the string encoding for files. A Collector before 0.161 erases inline keys in files. For OTLP
    /// requests, use [`string_encoding`](Self::string_encoding).
    ///
    /// ```
    /// use otlp_profiles::format::{Receiver, StringEncoding};
    ///
    /// assert_eq!(Receiver::Collector.string_encoding(), StringEncoding::Inline);
    /// assert_eq!(Receiver::Collector.string_encoding_in_files(), StringEncoding::Dictionary);
    /// ```
    pub fn string_encoding_in_files(self) -> StringEncoding {
        match self {
            Self::Collector => StringEncoding::Dictionary,
            Self::Parca | Self::Pyroscope => StringEncoding::Inline,
        }
    }

    /// Returns whether the receiver fails if an empty `resource`, `scope` or `period_type` is omitted, as
    /// Parca does. [`WriteOptions::empty_messages`] writes them.
    pub fn needs_empty_messages(self) -> bool {
        matches!(self, Self::Parca)
    }

    /// Returns the encoding of strings of resources, scopes and values in OTLP requests.
    pub fn string_encoding(self) -> StringEncoding {
        match self {
            Self::Collector | Self::Parca | Self::Pyroscope => StringEncoding::Inline,
        }
    }
}

impl WriteOptions {
    /// Returns the options for writing payloads that a receiver accepts, in [its format](Receiver::format).
    ///
    /// ```
    /// use otlp_profiles::WriteOptions;
    /// use otlp_profiles::format::{Receiver, StringEncoding};
    ///
    /// let options = WriteOptions::for_receiver(Receiver::Pyroscope);
    /// assert_eq!(options.string_encoding, StringEncoding::Inline);
    /// ```
    pub fn for_receiver(receiver: Receiver) -> Self {
        Self::default()
            .string_encoding(receiver.string_encoding())
            .empty_messages(receiver.needs_empty_messages())
    }
}

impl fmt::Display for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Receiver {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().copied().find(|receiver| receiver.name() == name);
        found.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|receiver| receiver.name()).collect();
            let message =
                format!("unknown receiver {name:?}; the receivers are {}", names.join(", "));
            Error::new(ErrorKind::Unrecognised, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_to_its_receiver() {
        for &receiver in Receiver::ALL {
            assert_eq!(receiver.to_string().parse().ok(), Some(receiver));
        }
        let error = "jaeger".parse::<Receiver>().unwrap_err().to_string();
        assert!(error.starts_with("unknown receiver \"jaeger\"; "), "{error}");
    }
}
