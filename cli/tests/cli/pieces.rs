//! Other ways to run `validate`, tested as users run them: the steps of `action.yml`, the hook of
//! pre-commit, and the recipes of docs/VALIDATE_IN_CI.md.

use std::path::PathBuf;

use crate::*;

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(name)).unwrap()
}

/// The script below `run: |` of a step.
fn script_of(action: &str, step: &str) -> String {
    let (_, step) = action.split_once(&format!("- name: {step}\n")).unwrap();
    let (_, block) = step.split_once("run: |\n").unwrap();
    let indent = " ".repeat(8);
    let lines = block.lines().map_while(|line| match line.strip_prefix(&indent) {
        Some(line) => Some(line),
        None => line.is_empty().then_some(""),
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// Runs a script in the shell that GitHub uses, with the command in the PATH.
fn shell(room: &Path, script: &str, env: &[(&str, &str)]) -> Output {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_otlp-profiles"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = own.parent().into_iter().map(Path::to_owned).chain(std::env::split_paths(&path));
    Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env_remove("OTLP_PROFILES_LOG")
        .envs(env.iter().copied())
        .current_dir(room)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// A valid payload, one with a warning and a space in its name, and a truncated one.
fn outputs(test: &str) -> PathBuf {
    let room = room(test);
    copy("otlp-1.11-aggregated-cpu.binpb", &room.join("out/good.otlp"));
    copy(PPROFS[0], &room.join("out/cpu 1.pb.gz"));
    fs::write(room.join("out/cut.pb"), &fs::read(testdata("rust-cpu.pb")).unwrap()[..500]).unwrap();
    room
}

#[test]
fn the_action_validates_and_annotates() {
    let room = outputs("pieces_action");
    let action = text("action.yml");
    let script = script_of(&action, "Validate");
    for name in ["files", "strict", "args"] {
        let uses = format!("{}: ${{{{ inputs.{name} }}}}", name.to_uppercase());
        assert!(action.contains(&uses), "{uses}");
    }
    let step = |files: &str, strict: &str, args: &str, exit: i32| {
        let env = [("FILES", files), ("STRICT", strict), ("ARGS", args)];
        let output = shell(&room, &script, &env);
        assert_eq!(output.status.code(), Some(exit), "{files}: {}", stderr(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let notes = step("out/*.otlp", "false", "", 0);
    assert!(notes.contains("::notice file=out/good.otlp,title=OP"), "{notes}");
    step("out/*.otlp", "true", "--deny OP5019", 1);
    step("out/*.otlp", "true", "--deny OP5019 --ignore OP5019,OP3007", 0);
    let notes = step("out/good.otlp out/cut.pb", "false", "", 3);
    assert!(notes.contains("::error file=out/cut.pb,title=OP1009"), "{notes}");
    let notes = step("out/*.zip", "false", "", 3);
    assert!(notes.contains("::error file=out/*.zip::"), "{notes}");
    // Replaces the installation script by one that records its arguments.
    let install = script_of(&action, "Install otlp-profiles");
    fs::create_dir(room.join(".ci")).unwrap();
    fs::write(room.join(".ci/install"), "echo \"$@\" > install.txt\n").unwrap();
    shell(&room, "chmod +x .ci/install", &[]);
    // A repository with two commits, of which the first is a release.
    fs::write(room.join("Cargo.toml"), "[package]\nversion = \"0.1.0\"\n").unwrap();
    let commit = "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty --message";
    let commits = shell(
        &room,
        &format!(
            "git init --quiet origin && cd origin && {commit} one && git tag v0.1.0 && {commit} two && git rev-parse HEAD^ HEAD"
        ),
        &[],
    );
    let commits = String::from_utf8(commits.stdout).unwrap();
    let origin = room.join("origin").to_string_lossy().into_owned();
    let [released, other] = commits.lines().collect::<Vec<_>>().try_into().unwrap();
    for (input, tag, version) in [
        ("", "v0.1.0", "v0.1.0"),
        ("", "main", "source"),
        ("", "v1", "source"),
        ("", released, "v0.1.0"),
        ("", other, "source"),
        ("0.2.0", "v0.1.0", "0.2.0"),
        ("latest", "main", "latest"),
    ] {
        let env = [
            ("VERSION", input),
            ("REF", tag),
            ("REPOSITORY", &origin),
            ("SOURCE", "."),
            ("RUNNER_TEMP", "temporary"),
        ];
        let output = shell(&room, &install, &[&env[..], &[("GITHUB_PATH", "path.txt")]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let ran = fs::read_to_string(room.join("install.txt")).unwrap();
        assert_eq!(ran, format!("{version} temporary/otlp-profiles\n"));
    }
    let path = fs::read_to_string(room.join("path.txt")).unwrap();
    assert!(path.starts_with("temporary/otlp-profiles\n"));
}

#[test]
fn the_hook_takes_names_of_files() {
    let room = outputs("pieces_hook");
    let hooks = text(".pre-commit-hooks.yaml");
    let value = |key: &str| {
        let line = hooks.lines().find_map(|line| line.trim_start().strip_prefix(key));
        line.unwrap_or_else(|| panic!("no {key}")).trim().to_owned()
    };
    assert!(text("docs/VALIDATE_IN_CI.md").contains(&format!("- id: {}", value("- id:"))));
    let entry = value("entry:");
    let (script, arguments) = entry.split_once(' ').unwrap();
    // The script itself would install the command, so it is not run.
    assert!(text(script).contains("exec \"$bin/otlp-profiles\" \"$@\""));
    let run = |names: &str, exit: i32| {
        let output = shell(&room, &format!("otlp-profiles {arguments} --strict {names}"), &[]);
        assert_eq!(output.status.code(), Some(exit), "{names}: {}", stderr(&output));
    };
    run("out/good.otlp 'out/cpu 1.pb.gz'", 0);
    run("out/good.otlp out/cut.pb", 3);
    // grep supports the syntax of this pattern, too.
    let names = "a.otlp\nb.pprof\nc.pb\nd.pb.gz\ne.binpb\nf.otlp.gz\ng.prof\nh.txt\ni.pbx\n";
    let script = format!("printf '{names}' | grep -cE '{}'", value("files:"));
    assert_eq!(shell(&room, &script, &[]).stdout, b"7\n");
}

#[test]
fn the_recipes_run() {
    let room = outputs("pieces_recipes");
    fs::remove_file(room.join("out/cut.pb")).unwrap();
    // profcheck accepts only the first link that this library writes.
    copy(PPROFS[0], &room.join("cpu.pb.gz"));
    run(&room, "convert cpu.pb.gz -o out/good.otlp --force", 0);
    let page = text("docs/VALIDATE_IN_CI.md");
    let mut ran = 0;
    for line in page.lines() {
        let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ");
        if line.starts_with("otlp-profiles validate") {
            let output = shell(&room, line, &[]);
            assert_eq!(output.status.code(), Some(0), "{line}: {}", stderr(&output));
            ran += 1;
        }
    }
    assert!(ran >= 3, "{ran} recipes");
    let sarif = fs::read(room.join("profiles.sarif")).unwrap();
    let sarif: Value = serde_json::from_slice(&sarif).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let junit = fs::read_to_string(room.join("profiles.xml")).unwrap();
    assert!(junit.contains("<testsuite name=\"otlp-profiles validate\" tests=\"2\""), "{junit}");
}
