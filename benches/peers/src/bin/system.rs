//! Measures with the system allocator. Without arguments, measures with both allocators.

fn main() {
    otlp_profiles_peers::main();
}
