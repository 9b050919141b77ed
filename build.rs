//! Generates the prost types of `src/proto.rs` from `proto/` (feature `proto`). Each generation gets its own
//! directory in `OUT_DIR`, because all of them use the same package names. `protox` compiles the files, so
//! `protoc` is not needed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=proto");
    #[cfg(feature = "proto")]
    if let Err(error) = proto::compile_all() {
        panic!("cannot compile proto/: {error}");
    }
}

#[cfg(feature = "proto")]
mod proto {
    use std::error::Error;
    use std::path::{Path, PathBuf};
    use std::{env, fs};

    /// Directory in `proto/` of each older generation, with its package stage.
    const OLDER: [(&str, &str); 7] = [
        ("v1_3", "v1experimental"),
        ("v1_4", "v1development"),
        ("v1_5", "v1development"),
        ("v1_6", "v1development"),
        ("v1_7", "v1development"),
        ("v1_8", "v1development"),
        ("v1_9", "v1development"),
    ];

    pub fn compile_all() -> Result<(), Box<dyn Error>> {
        compile("pprof", "profile.proto")?;
        compile("v1_10", &service("v1development"))?;
        if cfg!(feature = "proto-all") {
            for (folder, stage) in OLDER {
                compile(folder, &service(stage))?;
            }
            compile("events", "eventprofile.proto")?;
        }
        Ok(())
    }

    /// Returns the path of the file that imports all others of its generation, directly or not.
    fn service(stage: &str) -> String {
        format!("opentelemetry/proto/collector/profiles/{stage}/profiles_service.proto")
    }

    /// Writes `types.rs` (the module tree) and `descriptors.bin` (a `FileDescriptorSet`).
    fn compile(folder: &str, root: &str) -> Result<(), Box<dyn Error>> {
        let out = PathBuf::from(env::var("OUT_DIR")?).join(folder);
        fs::create_dir_all(&out)?;

        let mut compiler = protox::Compiler::new([Path::new("proto").join(folder)])?;
        compiler.include_imports(true).open_file(root)?;
        fs::write(out.join("descriptors.bin"), compiler.encode_file_descriptor_set())?;

        // The source info contains the comments, which become the documentation.
        compiler.include_source_info(true);
        prost_build::Config::new()
            .bytes(["."])
            .out_dir(&out)
            .include_file("types.rs")
            .compile_fds(compiler.file_descriptor_set())?;
        Ok(())
    }
}
