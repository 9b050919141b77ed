//! The limits, by the names that the library's errors give their flags.

use otlp_profiles::Limits;

/// A number such as `65536`, `64MiB`, `2G` (1024 each) or `64MB` (1000 each), or `unlimited`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    if text == "unlimited" {
        return Ok(u64::MAX);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: u64 = digits
        .parse()
        .map_err(|_| "a number such as 65536, 64MiB, 2G or unlimited is wanted".to_owned())?;
    let unit = unit.trim_start().to_ascii_lowercase();
    let (prefix, base) = match unit.strip_suffix('b') {
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
            return Err(format!("{unit} is none of the units K, M, G, T, KiB, KB and so on"));
        }
    };
    number.checked_mul(base.pow(power)).ok_or_else(|| "more than 64 bits hold".to_owned())
}

/// One flag for each limit: its name is the limit's, with dashes.
macro_rules! limits {
    ($($name:ident [$($alias:literal)?] $about:literal)*) => {
        #[derive(Clone, Debug, Default, clap::Args)]
        #[command(next_help_heading = "Limits (numbers such as 65536, 64MiB, 2G, unlimited)")]
        pub(crate) struct LimitArgs {
            $(
                #[doc = $about]
                #[arg(long, value_name = "N", value_parser = parse_size, hide_short_help = true $(, visible_alias = $alias)?)]
                $name: Option<u64>,
            )*
            /// Samples that timestamps may be expanded to where each needs one of its own
            #[arg(long, value_name = "N", value_parser = parse_size, hide_short_help = true)]
            pub(crate) max_expanded_samples: Option<u64>,
        }

        impl LimitArgs {
            /// The limits for files, with what was asked for in their place.
            pub(crate) fn limits(&self) -> Limits {
                let (mut limits, most) = (Limits::file(), Limits::unlimited());
                $(
                    if let Some(wanted) = self.$name {
                        // The model's own limits cannot be raised.
                        limits.$name = wanted.min(most.$name);
                    }
                )*
                limits
            }
        }
    };
}

limits! {
    max_input_bytes ["max-input"] "Bytes of one input as it is stored [default: 1GiB]"
    max_decompressed_bytes ["max-decompressed"] "Bytes of one input after inflating [default: 1GiB]"
    max_gzip_members [] "Members of one gzip stream [default: 1024]"
    max_nesting [] "Messages, values and groups inside one another; 256 at the most [default: 256]"
    max_samples [] "Samples of one message [default: 64Mi]"
    max_strings [] "Strings of one message [default: 64Mi]"
    max_table_entries [] "Rows of any other table [default: 64Mi]"
    max_string_bytes [] "Bytes of one string [default: 64MiB]"
    max_stack_depth [] "Locations of one stack [default: 1Mi]"
    max_lines_per_location [] "Lines of one location [default: 65536]"
    max_attributes_per_item [] "Attributes of one sample, location, mapping, profile, resource or scope [default: 65536]"
    max_owned_bytes ["max-owned"] "Memory that the profiles of one message may take [default: 8GiB]"
    max_owned_per_byte [] "Memory that the profiles of one message may take for each byte of it; 64MiB they may always take [default: 12]"
    max_output_bytes ["max-output"] "Bytes written for one message, before they are compressed [default: 4GiB]"
}

#[cfg(test)]
mod tests {
    use super::*;

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
