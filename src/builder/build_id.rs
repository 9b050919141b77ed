//! Computes build ids.

/// Computes the `process.executable.build_id.htlhash` of a binary without other build ids: a hash of its first and
/// last 4096 bytes and its length.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// use otlp_profiles::{Builder, builder::{NewMapping, htlhash}, semconv};
///
/// let path = std::env::current_exe()?;
/// let hash = htlhash(std::fs::File::open(&path)?)?;
/// assert_eq!(hash.len(), 32);
///
/// let mut builder = Builder::new();
/// let build_id = builder.attribute(semconv::BUILD_ID_HTLHASH, &hash);
/// let file = path.to_string_lossy();
/// let mapping = builder.mapping(NewMapping::new(file).attributes(&[build_id]));
/// # let _ = mapping;
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// The file cannot be read.
#[cfg(feature = "build-id")]
pub fn htlhash(mut file: impl std::io::Read + std::io::Seek) -> std::io::Result<String> {
    use std::io::{Read, SeekFrom};

    use sha2::{Digest, Sha256};

    const END: u64 = 4096;
    let length = file.seek(SeekFrom::End(0))?;
    let mut input = Vec::new();
    for start in [0, length.saturating_sub(END)] {
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(END).read_to_end(&mut input)?;
    }
    input.extend(length.to_be_bytes());
    Ok(crate::wire::hex::hex(&Sha256::digest(&input)[..16]))
}

#[cfg(all(test, feature = "build-id"))]
mod tests {
    use std::io::Cursor;

    use super::htlhash;

    /// The hashes were computed with `sha256sum` over the bytes that the specification names.
    #[test]
    fn short_files_overlap_and_are_not_padded() {
        assert_eq!(htlhash(Cursor::new(b"hello")).unwrap(), HELLO);
        assert_eq!(htlhash(Cursor::new(b"")).unwrap(), EMPTY);
        let long: Vec<u8> = (0..10_000u32).map(|byte| byte as u8).collect();
        assert_eq!(htlhash(Cursor::new(long)).unwrap(), LONG);
    }

    const HELLO: &str = "b2c90e0c61910efa8c079b70039694de";
    const EMPTY: &str = "af5570f5a1810b7af78caf4bc70a660f";
    const LONG: &str = "978d635ecf2bdf15d106915edbfcbc6f";
}
