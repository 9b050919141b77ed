//! Flags for limits, with the names that the library's errors use.
//!
//! The same name appears as a field of `Limits` or `WriteOptions`, in the library's errors, and
//! with dashes as the flag. So an error can name the flag that raises the limit ([`flag`]).
//!
//! ```text
//! max_strings      field of Limits, and the word in "… max_strings …" of an error
//! --max-strings    the flag: the same word with dashes
//! ```
//!
//! A new limit of the library needs one line here, and errors then name its flag.

use otlp_profiles::{Limits, OutputLimit, Profiles, WriteOptions};

/// Parses a number such as `65536`, `64MiB`, `2G` (powers of 1024), `64MB` (powers of 1000) or
/// `unlimited`.
///
/// Case and a space before the unit do not matter. A prefix alone is binary, as in `dd` and `head`.
/// `B` after it makes it decimal, and `iB` binary.
///
/// # Errors
///
/// A sentence for clap: not a number, an unknown unit, or more than 64 bits.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    if text == "unlimited" {
        return Ok(u64::MAX);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits
        .parse()
        .map_err(|_| "expected a number such as 65536, 64MiB or 2G, or unlimited".to_owned())?;
    let unit = unit.trim_start().to_ascii_lowercase();
    let (prefix, base) = match unit.strip_suffix('b') {
        // `KB` is decimal; `K`, `Ki` and `KiB` are binary.
        Some(prefix) if !prefix.ends_with('i') => (prefix, 1000_u64),
        _ => {
            let binary = unit.strip_suffix("ib").or(unit.strip_suffix('i'));
            (binary.unwrap_or(&unit), 1024)
        }
    };
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => {
            return Err(format!(
                "{unit} is not a unit of size: use K, M, G, T, or KiB, KB and so on"
            ));
        }
    };
    number.checked_mul(base.pow(power)).ok_or_else(|| "more than 64 bits hold".to_owned())
}

/// Returns a parser for a limit that cannot exceed `most`, the limit of the model.
///
/// It rejects larger numbers instead of reducing them: a user who requests 2^40 samples would
/// assume that they are allowed. `unlimited` means `most`.
fn at_most(most: u64) -> impl Fn(&str) -> Result<u64, String> + Clone + Send + Sync {
    move |text| match parse_size(text)? {
        u64::MAX => Ok(most),
        size if size <= most => Ok(size),
        _ => Err(format!("the largest value is {most}")),
    }
}

/// Replaces limits of the library in a hint by flags: `Limits::max_samples` by `--max-samples`.
pub(crate) fn in_flags(hint: &str) -> String {
    let word = |word: &str| match word.split_once("::") {
        Some(("Limits" | "WriteOptions", limit)) => flag(limit),
        Some(("Policy", _)) => "--repair".to_owned(),
        Some(("ReadOptions", _)) => "--from".to_owned(),
        _ => word.to_owned(),
    };
    hint.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The flag of a limit: its name with dashes.
fn flag(limit: &str) -> String {
    format!("--{}", limit.replace('_', "-"))
}

/// Declares one flag for each limit.
macro_rules! limits {
    ($args:ident of $options:ty, $most:expr; $($name:ident [$($alias:literal)?] $about:literal)*) => {
        #[derive(Clone, Debug, Default, clap::Args)]
        #[command(next_help_heading = "Limits")]
        pub(crate) struct $args {
            $(
                #[doc = $about]
                #[arg(long, value_name = "N", value_parser = at_most($most.$name), allow_negative_numbers = true, hide_short_help = true $(, visible_alias = $alias)?)]
                $name: Option<u64>,
            )*
        }

        impl $args {
            /// Returns the options with the limits that the arguments set.
            pub(crate) fn set(&self, mut options: $options) -> $options {
                $(options.$name = self.$name.unwrap_or(options.$name);)*
                options
            }
        }
    };
}

limits! { ReadLimits of Limits, Limits::unlimited(); // the limits of the model cannot be raised
    max_input_bytes ["max-input"] "Bytes of one input as stored; numbers such as 65536, 64MiB, 2G or unlimited [default: 1GiB]"
    max_decompressed_bytes ["max-decompressed"] "Bytes of one compressed input after decompression [default: 1GiB]"
    max_gzip_members [] "Members of one gzip stream [default: 1024]"
    max_nesting [] "Depth of nested messages, groups and JSON, at most 256; a value takes 4, each value around it 3 [default: 256]"
    max_samples [] "Samples of one message [default: 64Mi]"
    max_strings [] "Strings of one message [default: 64Mi]"
    max_table_entries [] "Rows of any other table [default: 64Mi]"
    max_string_bytes [] "Bytes of one string [default: 64MiB]"
    max_stack_depth [] "Locations of one stack [default: 1Mi]"
    max_lines_per_location [] "Lines of one location [default: 65536]"
    max_attributes_per_item [] "Attributes of one sample, location, mapping, profile, resource or scope [default: 65536]"
    max_owned_bytes ["max-owned"] "Memory for the profiles of one message, or for the sum of all inputs [default: 8GiB]"
    max_owned_per_byte [] "The same, for each decompressed byte of the message; 128MiB are always allowed [default: 12]"
}

limits! { OutputLimits of WriteOptions, WriteOptions::default().max_output_bytes(u64::MAX).max_output_per_byte(u64::MAX);
    max_output_bytes ["max-output"] "Bytes written for one message, before compression, or for a report [default: 4GiB]"
    max_output_per_byte [] "The same, for each byte of rows and samples in memory; 32MiB, or four times the strings, are always allowed [default: 32]"
}

limits! { WriteLimits of WriteOptions, WriteOptions::default().max_expanded_samples(u64::MAX);
    max_expanded_samples [] "Samples after each timestamp became a sample [default: 16Mi]"
}

impl OutputLimits {
    /// The limit of a report on profiles: that of a file, unless the arguments set another.
    pub(crate) fn of(&self, profiles: &Profiles) -> OutputLimit {
        self.set(file_options()).output_limit(profiles)
    }
}

/// The options of writing files, which may be larger than requests.
pub(crate) fn file_options() -> WriteOptions {
    WriteOptions::default().max_output_bytes(Limits::file().max_output_bytes)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Returns the names and values of all fields of `options` whose name begins with `max_`.
    fn fields(options: impl std::fmt::Debug) -> Vec<(String, u64)> {
        let text = format!("{options:?}").replace(['{', '}', ','], " ");
        let words: Vec<&str> = text.split_whitespace().collect();
        let limits = words.windows(2).filter(|pair| pair[0].starts_with("max_"));
        limits.map(|pair| (pair[0].replace(':', ""), pair[1].parse().unwrap())).collect()
    }

    /// Errors name the flag of a limit, so the flag must exist, and its help must state the
    /// default.
    #[test]
    fn every_limit_has_a_flag_that_says_its_default() {
        let command = crate::Cli::command();
        let convert = command.find_subcommand("convert").unwrap();
        let limits = fields(Limits::file());
        let written = fields(WriteOptions::default());
        let written = written.iter().filter(|(name, _)| !limits.iter().any(|(of, _)| of == name));
        for (name, value) in limits.iter().chain(written) {
            let flags = |arg: &&clap::Arg| arg.get_long().map(|long| format!("--{long}"));
            let arg = convert.get_arguments().find(|arg| flags(arg) == Some(flag(name)));
            let help = arg.and_then(|arg| arg.get_help()).unwrap_or_else(|| panic!("{name}"));
            let help = help.to_string();
            let (_, default) = help.split_once("[default: ").unwrap();
            assert_eq!(parse_size(default.trim_end_matches(']')), Ok(*value), "{name}: {help}");
        }
        assert!(limits.len() > 12, "{limits:?}");
    }

    #[test]
    fn sizes_are_read() {
        for (text, size) in [
            ("0", 0),
            ("65536", 65536),
            ("64MiB", 64 << 20),
            ("64 mib", 64 << 20),
            ("64M", 64 << 20),
            ("64Mi", 64 << 20),
            ("64MB", 64_000_000),
            ("2g", 2 << 30),
            ("7B", 7),
            ("unlimited", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(size), "{text}");
        }
        for text in ["", "-1", "MiB", "1x", "1.5G", "1mii", "99999999T"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
