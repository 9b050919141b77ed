//! A typed id for every table: an id of one cannot be used for another, and "none" is not a number.
//!
//! An id is the number of a row, in 32 bits: the tables of OTLP 1.8 and later refer to each other by
//! `int32`, and pprof's 64-bit ids are dense once they are read. What was an absent reference on the
//! wire is row 0 here, in every generation, so that no column needs an `Option` and no id a check. An id
//! means something together with the [`Dictionary`](crate::model::Dictionary) it came from and with no
//! other: after [`compact`](crate::Profiles::compact) rows have new numbers.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $table:literal)*) => {$(
        $(#[$doc])*
        ///
        /// ```
        #[doc = concat!("use otlp_profiles::model::", stringify!($name), ";")]
        #[doc = concat!("assert_eq!(", stringify!($name), "::default(), ", stringify!($name), "::NONE);")]
        #[doc = concat!("assert_eq!(", stringify!($name), "::NONE.some(), None);")]
        /// ```
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// Row 0, which every table keeps empty: no entry.
            ///
            /// OTLP defines it [since 1.8](https://github.com/open-telemetry/opentelemetry-proto/releases/tag/v1.8.0);
            /// the readers of pprof and of older generations insert an empty row 0.
            pub const NONE: Self = Self(0);

            /// Returns the id, or `None` for [`NONE`](Self::NONE).
            #[inline]
            pub fn some(self) -> Option<Self> {
                (self != Self::NONE).then_some(self)
            }

            /// Returns the number of the row.
            ///
            /// Use it to index the slices of the [`Dictionary`](crate::model::Dictionary).
            #[inline]
            pub fn row(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            const TABLE: usize = $table;

            #[inline]
            fn from_row(row: u32) -> Self {
                Self(row)
            }
            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }
    )*};
}

/// What all ids have in common, for code that is the same for every table.
///
/// It is implemented for the types of `ids!` alone.
pub(crate) trait Id: Copy + Default {
    /// Of which table it is a row, by the order of the dictionary: what is known of every table is an array.
    const TABLE: usize;

    /// The id of a row; whoever makes one has proved that the table has it.
    fn from_row(row: u32) -> Self;
    /// The row, as the columns store it.
    fn number(self) -> u32;
}

/// How many tables a dictionary has.
pub(crate) const TABLES: usize = 7;

ids! {
    /// A row of the string table: a text.
    StringId = 0
    /// A row of the mapping table: a binary mapped into memory.
    MappingId = 1
    /// A row of the location table: an address or a line of code, with what was inlined there.
    LocationId = 3
    /// A row of the function table.
    FunctionId = 2
    /// A row of the link table: a span of a trace.
    LinkId = 4
    /// A row of the attribute table: a key, a value and a unit.
    AttributeId = 5
    /// A row of the stack table: a list of locations, leaf first.
    StackId = 6
}
