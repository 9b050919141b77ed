//! The rules, a family a file: each row says what is asked, who says so and what to do about it.

pub(crate) mod attributes;
pub(crate) mod container;
pub(crate) mod conventions;
pub(crate) mod duplicates;
pub(crate) mod entries;
pub(crate) mod frames;
pub(crate) mod identity;
pub(crate) mod indices;
pub(crate) mod labels;
pub(crate) mod limits;
pub(crate) mod original;
pub(crate) mod orphans;
pub(crate) mod pprof;
pub(crate) mod pprof_rows;
pub(crate) mod pprof_samples;
pub(crate) mod regexp;
pub(crate) mod repeats;
pub(crate) mod resources;
pub(crate) mod samples;
pub(crate) mod structure;
pub(crate) mod times;
pub(crate) mod value_types;
pub(crate) mod wire;
pub(crate) mod zero;

use super::rule::Rule;

/// Declares the rules of a family, each a constant of its id, and `RULES` of them all.
macro_rules! rules {
    ($($id:ident $name:literal [$severity:literal $generations:literal] $($off:ident)? $place:literal
        $statement:literal source $source:literal example $example:literal fix $fix:literal;)*) => {
        $(
            #[doc = $statement]
            pub(crate) static $id: $crate::check::rule::Rule = $crate::check::rule::Rule {
                id: stringify!($id),
                name: $name,
                severity: $severity,
                generations: $generations,
                levels: $crate::check::rule::levels($severity, $generations),
                place: $place,
                statement: $statement,
                source: $source,
                example: $example,
                fix: $fix,
                off: rules!(@off $($off)?),
            };
        )*

        /// The rules of this family.
        pub(crate) static RULES: &[&$crate::check::rule::Rule] = &[$(&$id),*];
    };
    (@off off) => { true };
    (@off) => { false };
}
pub(crate) use rules;

/// Every family, in the order of the ids.
static FAMILIES: [&[&Rule]; 15] = [
    container::RULES,
    wire::RULES,
    structure::RULES,
    zero::RULES,
    indices::RULES,
    duplicates::RULES,
    orphans::RULES,
    repeats::RULES,
    samples::RULES,
    attributes::RULES,
    identity::RULES,
    frames::RULES,
    conventions::RULES,
    limits::RULES,
    pprof::RULES,
];

impl Rule {
    /// Every rule, in the order of the ids.
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        FAMILIES.iter().flat_map(|family| family.iter().copied())
    }

    /// The rule of an id (`OP3101`) or a name (`index-sample-stack-index`).
    pub fn find(name: &str) -> Option<&'static Rule> {
        Self::all().find(|rule| rule.id.eq_ignore_ascii_case(name) || rule.name == name)
    }
}
