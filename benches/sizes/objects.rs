//! Counts the objects of a message, as the OTEP counted retained objects: every message, string, byte
//! string and list of numbers is one, in a program with one struct per message.

/// A message: its message fields and its lists of numbers.
pub struct Shape {
    messages: &'static [(u32, &'static Shape)],
    lists: &'static [u32],
}

const fn shape(messages: &'static [(u32, &'static Shape)], lists: &'static [u32]) -> Shape {
    Shape { messages, lists }
}

static FLAT: Shape = shape(&[], &[]);
static LINES: Shape = shape(&[(1, &FLAT)], &[]);
static PAIR: Shape = shape(&[(2, &FLAT)], &[]);
static LOCATION_3: Shape = shape(&[(3, &LINES)], &[4, 5]);
static LOCATION_4: Shape = shape(&[(4, &LINES)], &[7]);
static LIST: Shape = shape(&[], &[1]);
static SET: Shape = shape(&[(1, &PAIR)], &[]);

static PPROF_SAMPLE: Shape = shape(&[(3, &FLAT)], &[1, 2]);
pub static PPROF: Shape = shape(
    &[(1, &FLAT), (2, &PPROF_SAMPLE), (3, &FLAT), (4, &LOCATION_4), (5, &FLAT), (11, &FLAT)],
    &[13],
);
static STACK: Shape = shape(&[(1, &LOCATION_3)], &[]);
static PLAIN_SAMPLE: Shape = shape(&[(1, &STACK), (2, &FLAT), (3, &PAIR)], &[5]);
pub static DENORMALIZED: Shape = shape(&[(2, &PLAIN_SAMPLE)], &[]);
static NORMAL_SAMPLE: Shape = shape(&[], &[2, 3, 4]);
pub static NORMALIZED: Shape = shape(
    &[
        (2, &LIST),
        (3, &NORMAL_SAMPLE),
        (4, &FLAT),
        (5, &LOCATION_3),
        (6, &FLAT),
        (7, &FLAT),
        (8, &SET),
    ],
    &[],
);
pub static ARRAYS: Shape = shape(
    &[(2, &LIST), (4, &FLAT), (5, &LOCATION_3), (6, &FLAT), (7, &FLAT), (8, &SET), (10, &FLAT)],
    &[],
);
static EXTENDED_SAMPLE: Shape = shape(&[(3, &FLAT)], &[1, 2, 6, 10, 13]);
pub static EXTENDED: Shape = shape(
    &[
        (1, &FLAT),
        (2, &EXTENDED_SAMPLE),
        (3, &FLAT),
        (4, &LOCATION_4),
        (5, &FLAT),
        (11, &FLAT),
        (16, &PAIR),
        (17, &FLAT),
        (18, &FLAT),
    ],
    &[13, 15],
);
static CONTAINER_1_3: Shape = shape(&[(4, &PAIR), (8, &EXTENDED)], &[]);

static SAMPLE: Shape = shape(&[], &[2, 4, 5]);
static PROFILE: Shape = shape(&[(1, &FLAT), (2, &SAMPLE), (5, &FLAT)], &[11]);
static MAPPING: Shape = shape(&[], &[5]);
static DICTIONARY: Shape =
    shape(&[(1, &MAPPING), (2, &LOCATION_3), (3, &FLAT), (4, &FLAT), (6, &PAIR), (7, &LIST)], &[]);

static ENVELOPE_PAIRS: Shape = shape(&[(1, &PAIR), (3, &PAIR)], &[]);
static SCOPE_1_3: Shape = shape(&[(1, &ENVELOPE_PAIRS), (2, &CONTAINER_1_3)], &[]);
static RESOURCE_1_3: Shape = shape(&[(1, &ENVELOPE_PAIRS), (2, &SCOPE_1_3)], &[]);
pub static OTLP_1_3: Shape = shape(&[(1, &RESOURCE_1_3)], &[]);
static SCOPE: Shape = shape(&[(1, &ENVELOPE_PAIRS), (2, &PROFILE)], &[]);
static RESOURCE: Shape = shape(&[(1, &ENVELOPE_PAIRS), (2, &SCOPE)], &[]);
pub static OTLP_1_10: Shape = shape(&[(1, &RESOURCE), (2, &DICTIONARY)], &[]);

macro_rules! in_an_envelope {
    ($($name:ident $number:literal $form:ident;)*) => {$(
        pub static $name: Shape = {
            static CONTAINER: Shape = shape(&[($number, &$form)], &[]);
            static SCOPE: Shape = shape(&[(1, &FLAT), (2, &CONTAINER)], &[]);
            static RESOURCE: Shape = shape(&[(1, &FLAT), (2, &SCOPE)], &[]);
            shape(&[(1, &RESOURCE)], &[])
        };
    )*};
}

in_an_envelope! {
    OTEP_PPROF 101 PPROF;
    OTEP_NORMALIZED 102 NORMALIZED;
    OTEP_ARRAYS 103 ARRAYS;
    OTEP_DENORMALIZED 104 DENORMALIZED;
    OTEP_EXTENDED 105 EXTENDED;
}

/// The number of objects in a message.
pub fn objects(bytes: &[u8], shape: &Shape) -> usize {
    let (mut at, mut count) = (0, 1);
    while at < bytes.len() {
        let tag = varint(bytes, &mut at);
        let number = (tag >> 3) as u32;
        match tag & 7 {
            0 => {
                varint(bytes, &mut at);
                // An unpacked list of one number.
                count += usize::from(shape.lists.contains(&number));
            }
            1 => at += 8,
            2 => {
                let length = varint(bytes, &mut at) as usize;
                let body = &bytes[at..at + length];
                let message = shape.messages.iter().find(|(own, _)| *own == number);
                count += message.map_or(1, |(_, shape)| objects(body, shape));
                at += length;
            }
            other => panic!("wire type {other}, which none of these forms has"),
        }
    }
    count
}

fn varint(bytes: &[u8], at: &mut usize) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}
