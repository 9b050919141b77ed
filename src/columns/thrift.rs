//! Checks the lengths in Parquet's metadata before the crate `parquet` allocates by them.
//!
//! Metadata is encoded in Thrift's [compact protocol](https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
//! A walk over it checks that texts and lists are within the bytes, and that no schema has more children than elements.

use crate::wire::read::Reader;

/// Levels of nested structs and lists. Parquet's metadata has some ten.
const DEPTH: u32 = 32;

/// The field of the number of children, in the elements of list 2 of a footer.
const CHILDREN: (u64, i64) = (2, 5);

/// The most that gzip compresses: a page has at most as many bytes for each compressed byte. LZ4 has 255.
const RATIO: u64 = 1_032;

/// Whether bytes begin with the metadata of a file.
pub(super) fn is_footer(bytes: &[u8]) -> bool {
    let mut walk = Walk { rest: Reader::new(bytes), elements: Some(u64::MAX), sizes: [0; 4] };
    walk.structure(0, true).is_some()
}

/// Whether bytes begin with a page header, and its page has at most `limit` bytes and as many as its compressed bytes may
/// hold: the crate allocates that much.
pub(super) fn is_page(bytes: &[u8], limit: u64) -> bool {
    let mut walk = Walk { rest: Reader::new(bytes), elements: None, sizes: [0; 4] };
    let [_, _, page, compressed] = match walk.structure(0, true) {
        Some(()) => walk.sizes.map(|size| u64::try_from(size).unwrap_or(u64::MAX)),
        None => return false,
    };
    page <= limit.min(compressed.saturating_mul(RATIO).saturating_add(RATIO))
}

struct Walk<'a> {
    rest: Reader<'a>,
    /// In the schema of a footer: the number of its elements.
    elements: Option<u64>,
    /// In a page header: the fields that are numbers, of which 2 and 3 are the sizes of the page and of its compressed bytes.
    sizes: [i64; 4],
}

impl Walk<'_> {
    fn byte(&mut self) -> Option<u8> {
        let &byte = self.rest.rest().first()?;
        self.rest.pass(1);
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        self.rest.try_varint()
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= self.rest.left())?;
        self.rest.pass(bytes);
        Some(())
    }

    fn structure(&mut self, depth: u32, is_root: bool) -> Option<()> {
        let mut field = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => zigzag(self.varint()?),
                delta => field.checked_add(delta.into())?,
            };
            let is_schema = is_root && field == CHILDREN.0 as i64 && self.elements.is_some();
            let kind = head & 15;
            if let (5, Some(elements)) = (kind, self.elements.filter(|_| !is_root)) {
                let number = zigzag(self.varint()?);
                if field == CHILDREN.1 && u64::try_from(number).ok()? >= elements {
                    return None;
                }
                continue;
            }
            match kind {
                5 if is_root => {
                    let number = zigzag(self.varint()?);
                    if let Some(size) =
                        usize::try_from(field).ok().and_then(|at| self.sizes.get_mut(at))
                    {
                        *size = number;
                    }
                }
                1 | 2 => {}
                9 | 10 => self.list(depth + 1, is_schema)?,
                _ => self.value(kind, depth + 1)?,
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            _ if depth > DEPTH => None,
            1..=3 => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(depth, false),
            12 => self.structure(depth, false),
            _ => None,
        }
    }

    fn list(&mut self, depth: u32, is_schema: bool) -> Option<()> {
        let head = self.byte()?;
        let items = match head >> 4 {
            15 => self.varint()?,
            items => items.into(),
        };
        // An item has at least one byte.
        if items > self.rest.left() as u64 {
            return None;
        }
        let outer = self.elements.take();
        self.elements = is_schema.then_some(items);
        for _ in 0..items {
            self.value(head & 15, depth + 1)?;
        }
        self.elements = if is_schema { None } else { outer };
        Some(())
    }
}

fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::is_page;

    /// A header of a data page: its type, its size, and the size of its compressed bytes.
    fn header(page: &[u8], compressed: u8) -> Vec<u8> {
        [b"\x15\x00\x15", page, &[0x15, 2 * compressed, 0x00]].concat()
    }

    #[test]
    fn the_size_of_a_page_is_in_proportion_to_its_compressed_bytes() {
        assert!(is_page(&header(b"\x64", 40), 1 << 20));
        assert!(!is_page(&header(b"\x64", 40), 49), "a limit");
        // 50,000 bytes.
        assert!(is_page(&header(b"\xa0\x8d\x06", 48), 1 << 20));
        assert!(!is_page(&header(b"\xa0\x8d\x06", 47), 1 << 20));
        // i32::MAX and -1.
        assert!(!is_page(&header(b"\xfe\xff\xff\xff\x0f", 40), u64::MAX));
        assert!(!is_page(&header(b"\x01", 40), 1 << 20));
        assert!(!is_page(b"\x15\x00\x15", 1 << 20), "a cut header");
    }
}
