//! Compression levels.

/// The trade-off between the time to compress and the size of the file.
///
/// ```
/// use otlp_profiles::compression::{Level, deflate};
///
/// let text = "main;work;read 17\n".repeat(100);
/// let [fast, best] = [Level::FAST, Level::BEST].map(|level| deflate(text.as_bytes(), level));
/// assert!(best.len() <= fast.len());
/// assert_eq!(Level::new(6), Some(Level::default()));
/// assert_eq!(Level::new(10), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(u32);

impl Level {
    /// 1: three times as fast as the default, and a third larger.
    /// For payloads that are sent at once.
    pub const FAST: Self = Self(1);
    /// 6, the usual default of gzip.
    pub const DEFAULT: Self = Self(6);
    /// 9: the smallest files.
    pub const BEST: Self = Self(9);

    /// Returns the number of the level.
    pub(super) const fn get(self) -> u32 {
        self.0
    }

    /// Creates a level from 0, which stores the bytes uncompressed, to 9. `None` above 9. For zstd, these levels
    /// are mapped to its own.
    ///
    /// ```
    /// use otlp_profiles::compression::{Level, deflate};
    /// let stored = deflate(b"profile", Level::new(0).unwrap());
    /// assert!(stored.windows(7).any(|bytes| bytes == b"profile"));
    /// ```
    pub const fn new(level: u32) -> Option<Self> {
        if level <= 9 { Some(Self(level)) } else { None }
    }
}

impl Default for Level {
    fn default() -> Self {
        Self::DEFAULT
    }
}
