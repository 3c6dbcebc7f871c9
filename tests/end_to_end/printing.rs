//! Standard output and standard error that are full or closed: the exit code is right, and no command panics.
use crate::own_kernels::data;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Command, Stdio};

/// Commands that print, and succeed in a copy of `tests/data`.
const PRINTING: [&[&str]; 14] = [
    &["--help"],
    &["run", "--help"],
    &["--version"],
    &["run", "vecadd"],
    &["run", "vecadd", "--json", "-"],
    &["run", "vecadd", "--mechanism", "dmil", "--list-probes"],
    &["run", "vecadd+atax", "--for", "2000"],
    &["compare", "vecadd", "--size", "tiny", "--mechanisms", "base,dmil"],
    &["list", "blocks"],
    &["gen", "milg"],
    &["wave", "milg", "--cycles", "2", "-o", "x.vcd"],
    &["trace", "record", "vecadd", "-o", "x.strace"],
    &["config", "show", "gtx480"],
    &["stats", "list"],
];

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").expect("the device is there")
}

/// Returns a pipe without a reader.
fn closed() -> Stdio {
    std::io::pipe().expect("a pipe").1.into()
}

fn run(folder: &Path, words: &[&str], out: impl Into<Stdio>, err: impl Into<Stdio>) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    let run = command.args(words).current_dir(folder).stdout(out).stderr(err).spawn().expect("it starts");
    let output = run.wait_with_output().expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_full_standard_output_is_one_line_and_exit_code_2() {
    let folder = data();
    for words in PRINTING {
        let (code, error) = run(folder.path(), words, full(), Stdio::piped());
        assert_eq!((code, error.lines().count()), (Some(2), 1), "{words:?}: {error}");
        assert!(error.contains("cannot write to standard output"), "{words:?}: {error}");
    }
}

#[test]
fn a_standard_output_without_reader_is_no_failure() {
    let folder = data();
    for words in PRINTING {
        assert_eq!(
            run(folder.path(), words, closed(), Stdio::piped()),
            (Some(0), String::new()),
            "{words:?}"
        );
    }
}

#[test]
fn messages_that_cannot_be_printed_leave_the_exit_code() {
    let folder = data();
    let wanted = folder.path().join("stack.out.txt");
    let text = std::fs::read_to_string(&wanted).expect("there").replace("637", "636");
    std::fs::write(wanted, text).expect("written");
    let same_twice = ["run", "vecadd", "--mechanism", "base", "--list-probes"];
    for (words, code) in [
        (&["run", "nope"][..], 2),
        (&["run", "--nope"], 2),
        (&["run", "stack.toml"], 1),
        (&["run", "vecadd", "--mechanism", "dmil", "--engine", "lockstep", "--inject", "sm0.milg:100:0"], 3),
        (&same_twice, 0),
    ] {
        let (found, _) = run(folder.path(), words, Stdio::null(), Stdio::piped());
        assert_eq!(found, Some(code), "{words:?}");
        assert_eq!(run(folder.path(), words, Stdio::null(), full()).0, Some(code), "{words:?} > /dev/full");
        assert_eq!(
            run(folder.path(), words, Stdio::null(), closed()).0,
            Some(code),
            "{words:?} without reader"
        );
    }
}
