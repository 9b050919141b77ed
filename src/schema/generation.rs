//! Versions as types. Readers and writers are generic over them.

use super::capabilities::Capabilities;
use super::version::Version;

/// A version as a type.
///
/// Facts and field numbers are constants. So each instance of a generic function has them as immediates and
/// contains no code for fields that its version lacks.
pub(crate) trait Generation: Sync + 'static {
    const VERSION: Version;
    const CAPABILITIES: Capabilities = *Self::VERSION.capabilities();
}

macro_rules! generations {
    ($($version:ident)*) => {$(
        pub(crate) struct $version;

        impl Generation for $version {
            const VERSION: Version = Version::$version;
        }
    )*};
}

generations! { Events Pprof V1_3 V1_4 V1_5 V1_6 V1_7 V1_8 V1_9 V1_10 }
