//! The Verilog in the repository equals the current output of the blocks.

use crate::command::selvedge;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    entries.map(|e| e.expect("a readable entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn verilog_is_what_gen_writes() {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    selvedge(&["gen", "--all", "-o", &fresh.path().to_string_lossy()]);
    let checked_in = Path::new("verilog");
    let (old, new) = (names(checked_in), names(fresh.path()));
    let stale: Vec<_> = old
        .symmetric_difference(&new)
        .cloned()
        .chain(
            old.intersection(&new)
                .filter(|name| {
                    let text = |folder: &Path| fs::read_to_string(folder.join(name)).expect("a text file");
                    text(checked_in) != text(fresh.path())
                })
                .cloned(),
        )
        .collect();
    assert!(stale.is_empty(), "stale in verilog/: {stale:?}; run: selvedge gen --all -o verilog");
}

#[test]
fn comments_have_no_links_of_the_source() {
    let of_source = |text: &str| text.contains("[`") || text.contains("](");
    let files = names(Path::new("verilog")).into_iter().filter(|name| name.ends_with(".v"));
    let text = |name: &String| fs::read_to_string(Path::new("verilog").join(name)).expect("a text file");
    let wrong: Vec<String> = files.filter(|name| of_source(&text(name))).collect();
    assert!(wrong.is_empty(), "links of the documentation in {wrong:?}");
}
