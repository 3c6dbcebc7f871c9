//! `selvedge init`: writes a crate with a mechanism and a block as a start. It is the crate in `tests/plugin` under
//! another name.
use crate::arguments::InitOptions;
use crate::error::Failure;
use crate::output::{print, write_new};
use selvedge_hw::rtl::reserved::is_reserved;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Name of the template, and prefix of its types.
const NAME: &str = "stream_filter";
const TYPE: &str = "StreamFilter";

/// Files of the template with their texts.
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("../tests/plugin/manifest.toml")),
    ("README.md", include_str!("../tests/plugin/README.md")),
    ("src/main.rs", include_str!("../tests/plugin/src/main.rs")),
    ("src/block.rs", include_str!("../tests/plugin/src/block.rs")),
    ("src/mechanism.rs", include_str!("../tests/plugin/src/mechanism.rs")),
    ("src/tests.rs", include_str!("../tests/plugin/src/tests.rs")),
];

pub fn run(options: &InitOptions) -> Result<(), Failure> {
    let name = options.name.as_str();
    check(name)?;
    let folder = Path::new(name);
    if folder.exists() {
        return Err(Failure::usage(format!("'{name}' exists already: it is not overwritten")));
    }
    let tree = tree(options.selvedge.as_deref())?;
    for (file, text) in FILES {
        let text = match file {
            "Cargo.toml" => manifest(text, &tree)?,
            _ => text.to_owned(),
        };
        let text = text.replace(NAME, name).replace(TYPE, &type_name(name));
        write_new(&folder.join(file), text.as_bytes())?;
    }
    write_new(&folder.join(".gitignore"), b"/target\n")?;
    // The versions with which the tree is tested.
    if let Ok(versions) = std::fs::read(tree.join("Cargo.lock")) {
        write_new(&folder.join("Cargo.lock"), &versions)?;
    }
    format(&folder.join("src/main.rs"));
    print(&format!("{name}: a crate with a block and a mechanism; `cd {name}`, then `cargo test`\n"))
}

/// Formats the crate with the user's rustfmt, because the length of the name moves the ends of lines. Without rustfmt, the
/// text stays as it is.
fn format(main: &Path) {
    let _ = Command::new("rustfmt").args(["--edition", "2024"]).arg(main).stdin(Stdio::null()).output();
}

/// Refuses a name that is invalid for a crate or a Verilog module, or is in use.
fn check(name: &str) -> Result<(), Failure> {
    let is_word = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_word || !name.starts_with(|c: char| c.is_ascii_lowercase()) || name.len() > 40 {
        return Err(Failure::usage(format!(
            "'{name}': must be up to 40 lower-case letters, digits and underscores, and begin with a letter"
        )));
    }
    let is_taken = selvedge_blocks::find(name).is_ok()
        || selvedge_sim::mechanism::all().iter().any(|mechanism| mechanism.name == name)
        || [
            "selvedge",
            "selvedge_blocks",
            "selvedge_hw",
            "selvedge_sim",
            "selvedge_state",
            "test",
            "core",
            "std",
            "alloc",
        ]
        .contains(&name)
        || is_keyword(name);
    if is_taken {
        return Err(Failure::usage(format!("'{name}': the name is taken or reserved: must be another name")));
    }
    Ok(())
}

/// Returns whether a word is a keyword of Rust, or reserved in Verilog or C++.
fn is_keyword(word: &str) -> bool {
    const WORDS: &str = "as async await break const continue crate dyn else enum extern false fn for if impl in let loop \
        match mod move mut pub ref return self static struct super trait true type unsafe use where while gen abstract \
        become box do final macro override priv typeof unsized virtual yield try union";
    is_reserved(word) || WORDS.split_whitespace().any(|one| one == word)
}

/// Returns the source tree that the crate depends on, as an absolute path.
fn tree(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_tree = |path: &Path| {
        ["hw/kit", "sim/gpu", ""].iter().all(|part| path.join(part).join("Cargo.toml").is_file())
    };
    match given {
        Some(path) if is_tree(path) => {
            path.canonicalize().map_err(|e| Failure::usage(format!("--selvedge {}: {e}", path.display())))
        }
        Some(path) => Err(Failure::usage(format!(
            "--selvedge {}: must be Selvedge's source tree, with Cargo.toml, hw and sim",
            path.display()
        ))),
        None if is_tree(built_from) => Ok(built_from.into()),
        None => Err(Failure::usage("--selvedge: must be given: the path of Selvedge's source tree")),
    }
}

/// Returns the manifest for the new crate. Drops the template's first line, a comment about the template, and inserts
/// the paths of the tree.
fn manifest(text: &str, tree: &Path) -> Result<String, Failure> {
    let text = text.split_once('\n').map_or(text, |(_, rest)| rest);
    let tree = tree.to_str().filter(|path| !path.contains(['"', '\\', '\n'])).ok_or_else(|| {
        Failure::usage(format!("--selvedge {}: must be a path of plain characters", tree.display()))
    })?;
    Ok(text.replace("\"../..", &format!("\"{tree}")))
}

/// Converts `my_filter` to the name of a type, `MyFilter`.
fn type_name(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
    };
    name.split('_').filter_map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_crates_and_modules() {
        for name in ["mine", "my_filter2"] {
            assert!(check(name).is_ok(), "{name}");
        }
        for name in ["", "My", "2x", "_x", "a-b", "a/b", "bgp", "hw-bdi", "dmil", "module", "fn", "selvedge"]
        {
            assert!(check(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_type_has_the_name_in_capitals() {
        assert_eq!(type_name("my_l1_filter"), "MyL1Filter");
    }
}
