//! docs/reference/fidelity.md shows the measurements of `selvedge fidelity`, and a wrong configuration fails with one line.
use crate::command::{selvedge, selvedge_in};

#[test]
fn the_page_shows_what_is_measured_now() {
    let page = std::fs::read_to_string("docs/reference/fidelity.md").expect("the page is there");
    let table = selvedge(&["fidelity", "--config", "gtx480"]);
    assert!(
        page.contains(&table),
        "docs/reference/fidelity.md is stale: selvedge fidelity -o docs/reference/fidelity.md\n{table}"
    );
}

#[test]
fn a_machine_that_the_microbenchmarks_do_not_fit_is_told_in_a_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "base = \"gtx480\"\nname = \"narrow\"\n[sm]\nthreads = 128\nwarps = 4\n";
    std::fs::write(folder.path().join("narrow.toml"), text).expect("the file is written");
    let output = selvedge_in(folder.path(), &["fidelity", "--config", "narrow.toml"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.starts_with("selvedge: configuration narrow: ") && error.lines().count() == 1, "{error}");
}
