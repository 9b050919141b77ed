//! The names of folders in a dataset.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// The most bytes of a service in the name of a folder, of the 255 that file systems allow.
const LONGEST: usize = 200;

/// Names a folder for each service. The names differ.
#[derive(Default)]
pub(super) struct Folders(HashMap<String, u32>);

impl Folders {
    pub(super) fn name(&mut self, service: &str) -> String {
        let folder = folder(service);
        // File systems may ignore case.
        let times = self.0.entry(folder.to_lowercase()).or_default();
        *times += 1;
        if *times == 1 { folder } else { format!("{folder}~{times}") }
    }
}

/// Returns the name of a service as a part of a path: percent-encoded, shortened if it is long.
fn folder(service: &str) -> String {
    if matches!(service, "" | "." | "..") {
        return "unknown_service".to_owned();
    }
    let mut folder = String::new();
    for byte in service.bytes() {
        if folder.len() > LONGEST {
            // Long names with equal beginnings get different folders.
            return format!("{folder}~{:016x}", xxh3_64(service.as_bytes()));
        }
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'.' => {
                folder.push(char::from(byte));
            }
            byte => folder.push_str(&format!("%{byte:02X}")),
        }
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_services_stay_in_the_directory() {
        for (service, expected) in [
            ("checkout", "checkout"),
            ("a/b c", "a%2Fb%20c"),
            ("", "unknown_service"),
            (".", "unknown_service"),
            ("..", "unknown_service"),
            ("../x", "..%2Fx"),
            ("größe", "gr%C3%B6%C3%9Fe"),
            ("a\\b:c\0", "a%5Cb%3Ac%00"),
            ("~", "%7E"),
        ] {
            assert_eq!(folder(service), expected);
        }
        let [one, other] = ["x", "y"].map(|last| folder(&("é".repeat(150) + last)));
        assert!(one.len() < 230 && one != other, "{one}");
        let mut folders = Folders::default();
        assert_eq!(
            ["", "A", "a", ".."].map(|service| folders.name(service)),
            ["unknown_service", "A", "a~2", "unknown_service~2"]
        );
    }
}
