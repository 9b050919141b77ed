//! The artifacts of a release: archives, their names in `action.yml` and for `cargo binstall`, and
//! the script that tags.

use std::collections::BTreeSet;

use crate::*;

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

/// The words of a text that look like target triples.
fn targets(text: &str) -> BTreeSet<&str> {
    let ends = ["-linux-gnu", "-linux-musl", "-apple-darwin", "-windows-msvc"];
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_".contains(c))
        .filter(|word| ends.iter().any(|end| word.ends_with(end)) && !word.starts_with('-'))
        .collect()
}

#[test]
fn archive_names_agree() {
    let workflow = text(".github/workflows/release.yml");
    let built = targets(&workflow);
    let all = [
        "aarch64-apple-darwin",
        "aarch64-unknown-linux-gnu",
        "aarch64-unknown-linux-musl",
        "x86_64-apple-darwin",
        "x86_64-pc-windows-msvc",
        "x86_64-unknown-linux-gnu",
        "x86_64-unknown-linux-musl",
    ];
    assert!(all.iter().all(|target| built.contains(target)), "{built:?}");
    let downloaded = text(".ci/install");
    let downloaded = targets(&downloaded);
    assert_eq!(downloaded.len(), 5);
    assert!(downloaded.is_subset(&built), "{downloaded:?}");
    assert!(workflow.contains("sha256sum otlp-profiles-* > SHA256SUMS"));

    // otlp-profiles-VERSION-TARGET.tar.gz, or .zip for Windows, contains a directory of that name.
    assert!(text(".ci/archive").contains("name=\"otlp-profiles-$version-$target\""));
    let manifest = text("cli/Cargo.toml");
    let name = "otlp-profiles-{ version }-{ target }";
    for line in [
        format!("pkg-url = \"{{ repo }}/releases/download/v{{ version }}/{name}.tar.gz\""),
        format!("pkg-url = \"{{ repo }}/releases/download/v{{ version }}/{name}.zip\""),
        format!("bin-dir = \"{name}/{{ bin }}{{ binary-ext }}\""),
        "[package.metadata.binstall.overrides.x86_64-pc-windows-msvc]".to_owned(),
    ] {
        assert!(manifest.lines().any(|found| found == line), "{line}");
    }
    let container = text("Containerfile");
    assert!(container.contains("otlp-profiles-$VERSION-$arch-unknown-linux-musl"));
    assert!(container.contains("tar -xzf \"/dist/$name.tar.gz\""));
    let version = env!("CARGO_PKG_VERSION");
    let image = format!("ghcr.io/otlp-profiles/otlp-profiles:{version} validate");
    assert!(text(".pre-commit-hooks.yaml").contains(&image), "{image}");
}

/// Archives are packed, downloaded over `file:` and verified, as in the jobs of CI.
#[cfg(all(unix, target_pointer_width = "64"))]
#[test]
fn an_archive_installs_unless_its_checksum_differs() {
    use std::os::unix::fs::PermissionsExt;

    let room = room("release_archive");
    let version = env!("CARGO_PKG_VERSION");
    let script = |name: &str, text: &str| {
        fs::create_dir_all(room.join(name).parent().unwrap()).unwrap();
        fs::write(room.join(name), text).unwrap();
        fs::set_permissions(room.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    let own = env!("CARGO_BIN_EXE_otlp-profiles");
    script("otlp-profiles", &format!("#!/bin/sh\nexec '{own}' \"$@\"\n"));
    // A build takes minutes, so this script records the arguments instead.
    script(
        "path/cargo",
        "#!/bin/sh\necho \"$@\" > cargo.txt\nmkdir -p \"$6/bin\"\ntouch \"$6/bin/otlp-profiles\"\n",
    );
    let bash = |script: &str, exit: i32| {
        let path = std::env::var("PATH").unwrap();
        let output = Command::new("bash")
            .args(["-eo", "pipefail", "-c", script])
            .env("CI", format!("{ROOT}/.ci"))
            .env("PATH", format!("{}:{path}", room.join("path").display()))
            .env("OTLP_PROFILES_RELEASES", format!("file://{}/releases", room.display()))
            .current_dir(&room)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(exit), "{script}: {}", stderr(&output));
        output
    };
    let release = format!("releases/download/v{version}");
    for target in targets(&text(".ci/install")).iter().filter(|t| !t.contains("windows")) {
        bash(&format!("\"$CI/archive\" {target} \"$PWD/otlp-profiles\" \"$PWD/{release}\""), 0);
    }
    let sums = "(sha256sum *.gz || shasum -a 256 *.gz) > SHA256SUMS";
    bash(&format!("cd {release} && {sums}"), 0);
    bash(&format!("\"$CI/install\" v{version} bin"), 0);
    let output = Command::new(room.join("bin/otlp-profiles")).arg("--version").output().unwrap();
    let first = format!("otlp-profiles {version}\n").into_bytes();
    assert!(output.stdout.starts_with(&first), "{}", stderr(&output));
    assert!(!room.join("cargo.txt").exists());

    let packed = bash(&format!("tar -tzf {release}/*-x86_64-unknown-linux-musl.tar.gz"), 0);
    let packed = String::from_utf8(packed.stdout).unwrap();
    let folder = format!("otlp-profiles-{version}-x86_64-unknown-linux-musl");
    for file in [
        "otlp-profiles",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "man/otlp-profiles.1",
        "man/otlp-profiles-convert.1",
        "completions/otlp-profiles.bash",
        "completions/otlp-profiles.zsh",
    ] {
        assert!(packed.lines().any(|line| line == format!("{folder}/{file}")), "{file}: {packed}");
    }

    let output = bash("\"$CI/install\" 9.9.9 other", 0);
    says(&output, "building from source");
    let built = fs::read_to_string(room.join("cargo.txt")).unwrap();
    assert!(built.starts_with("install --locked --features zstd --root "), "{built}");
    assert!(built.ends_with(" otlp-profiles-cli --version 9.9.9\n"), "{built}");
    assert!(room.join("other/otlp-profiles").exists());

    for file in fs::read_dir(room.join(&release)).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let damaged = [&fs::read(&path).unwrap()[..], b"\0"].concat();
            fs::write(path, damaged).unwrap();
        }
    }
    let output = bash(&format!("\"$CI/install\" {version} third"), 1);
    says(&output, "has the SHA-256 checksum");
    assert!(!room.join("third").exists());
}
