//! A typed id for every table. An id of one table cannot be used for another, and row 0 stands for the absence of
//! an entry.
//!
//! An id is the number of a row, in 32 bits: the tables of OTLP 1.8 and later refer to each other by `int32`, and
//! pprof's 64-bit ids are dense once they are read. An absent reference on the wire becomes row 0 in every
//! generation, so no column needs an `Option` and no id a check. An id is meaningful only with the
//! [`Dictionary`](crate::model::Dictionary) that contains it. [`compact`](crate::Profiles::compact) renumbers rows.

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
            #[inline]
            fn number_mut(&mut self) -> &mut u32 {
                &mut self.0
            }
        }
    )*};
}

/// Operations that all ids share, for code that is generic over tables.
///
/// Implemented only for the types of `ids!`.
pub(crate) trait Id: Copy + Default {
    /// The table's number in the order of the dictionary, which indexes arrays of per-table data.
    const TABLE: usize;

    /// Creates the id of a row. The caller guarantees that the row exists.
    fn from_row(row: u32) -> Self;
    /// Returns the row, as columns store it.
    fn number(self) -> u32;
    fn number_mut(&mut self) -> &mut u32;
}

/// The number of tables in a dictionary.
pub(crate) const TABLES: usize = 7;

ids! {
    /// A row of the string table.
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
