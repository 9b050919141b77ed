//! Measures with mimalloc on both sides.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    otlp_profiles_peers::main();
}
