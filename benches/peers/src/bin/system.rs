//! With the allocator of the system; without arguments, what measures both.

fn main() {
    otlp_profiles_peers::main();
}
