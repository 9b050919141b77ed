//! How hard compressors try.

/// How much time to spend on how small a file.
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
    /// For payloads that leave at once.
    pub const FAST: Self = Self(1);
    /// 6, as everywhere.
    pub const DEFAULT: Self = Self(6);
    /// 9: the smallest.
    pub const BEST: Self = Self(9);

    /// The number of the level.
    pub(super) const fn get(self) -> u32 {
        self.0
    }

    /// `level` from 0, which stores the bytes as they are, to 9.
    /// `None` past 9. zstd has levels of its own, which these are mapped onto.
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
