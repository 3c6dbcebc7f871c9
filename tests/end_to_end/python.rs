//! The Python package: its own tests, its page, and the notebooks that follow the tutorials.
use crate::command::selvedge_in;
use selvedge_testbenches::skipped::skip;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const TREE: &str = env!("CARGO_MANIFEST_DIR");

/// Returns Python with the packages of `tests/python.txt`, if installed.
pub fn python(test: &str) -> Option<PathBuf> {
    let program = Path::new(TREE).join("target/python/bin/python");
    let has = |package: &str| {
        let words = ["-c", &format!("import {package}")];
        Command::new(&program).args(words).output().is_ok_and(|output| output.status.success())
    };
    let packages = ["jsonschema", "polars", "pandas", "pyarrow", "matplotlib", "nbclient"];
    if packages.iter().all(|package| has(package)) {
        return Some(program);
    }
    skip(test, "no Python packages: tests/run installs them to target/python");
    None
}

/// Returns a folder with the package `selvedge`: its sources and the library that cargo has built with this test.
fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-package");
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("an earlier run's is removed");
        }
        let package = folder.join("selvedge");
        fs::create_dir_all(&package).expect("a folder");
        for entry in fs::read_dir(Path::new(TREE).join("python/selvedge")).expect("the sources are there") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                fs::copy(&path, package.join(path.file_name().expect("a name"))).expect("copied");
            }
        }
        let program = std::env::current_exe().expect("this test has a path");
        let library = program.parent().expect("a folder").join("lib_selvedge.so");
        fs::copy(library, package.join("_selvedge.abi3.so")).expect("cargo has built the library");
        folder
    })
}

/// Runs Python with the package and the command in `folder`. Returns standard output and standard error.
fn run(python: &Path, folder: &Path, words: &[&str], more: &[(&str, &str)]) -> [String; 2] {
    let selvedge = Path::new(env!("CARGO_BIN_EXE_selvedge"));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let first = selvedge.parent().map(Path::to_path_buf).into_iter();
    let path = std::env::join_paths(first.chain(std::env::split_paths(&paths))).expect("a path");
    let output = Command::new(python)
        .args(words)
        .env("PATH", path)
        .env("PYTHONPATH", package())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SELVEDGE_COMMAND", selvedge)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .env("MPLCONFIGDIR", env!("CARGO_TARGET_TMPDIR"))
        .envs(more.iter().copied())
        .current_dir(folder)
        .output()
        .expect("Python starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let [out, error] = [text(&output.stdout), text(&output.stderr)];
    assert!(output.status.success(), "{words:?}: {out}{error}");
    [out, error]
}

#[test]
fn the_package_passes_its_tests() {
    let Some(python) = python("the_package_passes_its_tests") else { return };
    let tests = format!("{TREE}/python/tests");
    let [_, printed] = run(&python, Path::new(TREE), &["-m", "unittest", "discover", "-s", &tests], &[]);
    assert!(printed.trim_end().ends_with("\nOK"), "nothing is skipped: {printed}");
}

#[test]
fn the_page_shows_what_its_code_prints() {
    let Some(python) = python("the_page_shows_what_its_code_prints") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    make_study(folder.path());
    let [script, page] =
        ["tests/python_page.py", "docs/how-to/use-from-python.md"].map(|file| format!("{TREE}/{file}"));
    let [printed, _] = run(&python, folder.path(), &[&script, &page], &[]);
    let count: usize = printed.trim().parse().expect("the number of blocks");
    assert!(count >= 5, "{count} blocks");
}

/// Runs the study of `docs/how-to/use-from-python.md` and writes its table.
fn make_study(folder: &Path) {
    let text = "size = \"tiny\"\nworkloads = [\"bfs\", \"kmeans\"]\nmechanisms = [\"base\", \"hw-bdi\"]\n\
                [[vary]]\nkey = \"l1d.ways\"\nvalues = [2, 4]\n";
    fs::write(folder.join("ways.toml"), text).expect("written");
    for words in [&["ways.toml"][..], &["collect", "ways.toml", "-o", "ways.parquet"]] {
        let output = selvedge_in(folder, &[&["study"], words, &["--store", "st"]].concat());
        assert!(output.status.success(), "{output:?}");
    }
}

/// Runs a notebook in `folder`. It must make this many pictures and tables.
pub fn notebook_in(folder: &Path, test: &str, name: &str, made: [usize; 2], more: &[(&str, &str)]) {
    let Some(python) = python(test) else { return };
    let script = format!("{TREE}/tests/notebook.py");
    let notebook = format!("{TREE}/examples/notebooks/{name}.ipynb");
    let [printed, _] = run(&python, folder, &[&script, &notebook, folder.to_str().expect("UTF-8")], more);
    let [pictures, tables] = made;
    assert_eq!(printed.lines().last(), Some(format!("{pictures} {tables}").as_str()), "{name}: {printed}");
}

fn notebook(test: &str, name: &str, made: [usize; 2]) {
    let folder = tempfile::tempdir().expect("a folder");
    notebook_in(folder.path(), test, name, made, &[]);
}

#[test]
fn a_notebook_compares_mechanisms() {
    notebook("a_notebook_compares_mechanisms", "first_result", [2, 2]);
}

#[test]
fn a_notebook_runs_a_kernel() {
    notebook("a_notebook_runs_a_kernel", "cuda_to_figure", [1, 1]);
}

#[test]
fn a_notebook_draws_a_block() {
    notebook("a_notebook_draws_a_block", "block_waveforms", [1, 1]);
}

#[test]
fn a_notebook_runs_verilog() {
    notebook("a_notebook_runs_verilog", "own_verilog", [0, 0]);
}
