//! Untrusted files cannot use all memory, and cannot send control characters to the terminal.
use crate::command::selvedge_in;
use std::path::Path;
use std::process::{Command, Output};

const PTX: &str =
    ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) { ret; }\n";

const LAUNCH: &str = "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n";

/// Returns an argument that is a buffer of `count` 32-bit numbers.
fn buffer(count: u64) -> String {
    format!("[[arg]]\ntype = \"u32\"\ncount = {count}\n")
}

/// Creates a folder with these files and a kernel.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("k.ptx", PTX)].iter().chain(files) {
        std::fs::write(folder.path().join(name), text).expect("written");
    }
    folder
}

/// Returns the only line that the command prints about a user's mistake.
fn line(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

fn refusal(files: &[(&str, &str)], words: &[&str]) -> String {
    line(&selvedge_in(folder(files).path(), words))
}

#[test]
fn buffers_together_may_take_what_max_memory_says() {
    let text = format!("{LAUNCH}{}\n", buffer(64));
    let folder = folder(&[("my.toml", &text)]);
    let run = |most: &str| selvedge_in(folder.path(), &["run", "my.toml", "--max-memory", most]);
    assert!(run("256").status.success());
    let says =
        "my.toml:7: buffer `arg0` has 256 bytes: must be at most 255, which the buffers before it leave";
    assert!(line(&run("255")).contains(says), "{}", line(&run("255")));
}

#[test]
fn buffers_of_more_than_a_workstation_has_are_refused_before_they_are_allocated() {
    let many: String = (0..8).map(|_| buffer(1 << 30)).collect();
    let says = "my.toml:13: buffer `arg2` has 4294967296 bytes: must be at most 0, which";
    let error = refusal(&[("my.toml", &format!("{LAUNCH}{many}"))], &["run", "my.toml"]);
    assert!(error.contains(says), "{error}");
}

#[test]
fn a_workload_may_take_what_max_memory_says() {
    let error = refusal(&[], &["run", "vecadd", "--max-memory", "64KiB"]);
    assert!(error.contains("of 65536 bytes of device memory are left (--max-memory)"), "{error}");
    let error = refusal(&[], &["compare", "vecadd", "--mechanisms", "base", "--max-memory", "64 KB"]);
    assert!(error.contains("'64 KB'") && error.contains("must be bytes, or a number of KiB"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_host_without_memory_for_a_buffer_gives_one_line() {
    let folder = folder(&[("my.toml", &format!("{LAUNCH}{}", buffer(1 << 30)))]);
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 2000000; exec \"$0\" run my.toml", env!("CARGO_BIN_EXE_selvedge")])
        .current_dir(folder.path())
        .output()
        .expect("the command starts");
    let says = "cannot allocate 4294967296 bytes for buffer 'arg0': the host has no memory for them";
    assert!(line(&output).contains(says), "{}", line(&output));
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_not_read_on_wherever_it_is_named() {
    for (words, says) in [
        (&["run", "vecadd", "--energy-from", "/dev/zero"][..], "must be at most 67108864"),
        (&["run", "vecadd", "--latency-from", "/dev/zero"], "must be at most 67108864"),
        (&["area", "milg", "--technologies", "/dev/zero"], "must be at most 67108864"),
        (&["run", "endless.strace"], "offset 0: not a trace"),
        (&["run", "text.toml"], "/dev/zero:1: '????"),
        (&["run", "raw.toml"], "more than 64 numbers: must be at most 64, the buffer's count"),
    ] {
        let text = format!("{LAUNCH}{}file = \"/dev/zero\"\n", buffer(64));
        let raw = format!("{text}format = \"raw\"\n");
        let folder = folder(&[("text.toml", &text), ("raw.toml", &raw)]);
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.strace")).expect("a link");
        let error = line(&selvedge_in(folder.path(), words));
        assert!(error.contains(says), "{words:?}: {error}");
    }
}

#[test]
fn a_packed_trace_may_unpack_to_what_max_unpacked_says() {
    let traces = Path::new("tests/traces");
    let run = |most: &str| selvedge_in(traces, &["run", "kernel-2.traceg.xz", "--max-unpacked", most]);
    assert!(run("1MiB").status.success());
    let error = line(&run("1KiB"));
    assert!(
        error.contains("unpack to more than 1024: must be at most the limit of --max-unpacked"),
        "{error}"
    );
    let plain = selvedge_in(traces, &["run", "kernel-1.traceg", "--max-unpacked", "1KiB"]);
    assert!(plain.status.success(), "what is not packed has any size");
}

/// Checks that the output has no control character except line ends.
fn is_shown_only(output: &Output) {
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        let acts = text.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
        assert_eq!(acts, None, "{}", text.escape_debug());
    }
}

#[test]
fn names_in_files_of_others_are_shown_without_what_a_terminal_acts_on() {
    let evil = "\\u001b[31m\\u0000\\u009b\\u202e";
    let kernel = LAUNCH.replace("\"k\"", &format!("\"{evil}\""));
    let machine = format!("base = \"gtx480\"\nname = \"{evil}\"\n");
    let files = [
        ("kernel.toml", kernel.as_str()),
        ("machine.toml", &machine),
        ("kernelslist.g", "\u{1b}[2J\0\n"),
        ("my.config", "-gpgpu_n_clusters 2\n-no_such_\u{1b}[31m 1\n"),
    ];
    let folder = folder(&files);
    for (words, code) in [
        (&["run", "kernel.toml"][..], 2),
        (&["config", "check", "machine.toml"], 0),
        (&["run", "kernelslist.g"], 2),
        (&["config", "import", "my.config"], 0),
        (&["run", "\u{1b}[31m"], 2),
        (&["stats", "explain", "\u{1b}]0;title\u{7}"], 2),
    ] {
        let output = selvedge_in(folder.path(), words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        let escaped = [&output.stdout[..], &output.stderr].concat();
        assert!(String::from_utf8_lossy(&escaped).contains("\\u{1b}"), "{words:?}: {output:?}");
        is_shown_only(&output);
    }
}

#[test]
fn kernel_names_of_traces_are_escaped_in_tables_and_statistics() {
    let text = std::fs::read_to_string("tests/traces/kernel-1.traceg").expect("the trace is there");
    let folder = folder(&[("my.traceg", &text.replace("vecadd", "vec\u{1b}[31m"))]);
    for words in [
        &["trace", "info", "my.traceg"][..],
        &["run", "my.traceg", "--stats", "-"],
        &["run", "my.traceg", "--launches", "-"],
        &["run", "my.traceg", "--json", "-"],
    ] {
        let output = selvedge_in(folder.path(), words);
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("[31m"), "{words:?}");
        is_shown_only(&output);
    }
}

#[test]
fn a_message_about_a_huge_value_is_short() {
    let huge = "a".repeat(900_000);
    let key = format!("{LAUNCH}{huge} = 1\n");
    let ptx = LAUNCH.replace("k.ptx", &huge);
    for text in [&key, &ptx] {
        let error = refusal(&[("my.toml", text)], &["run", "my.toml"]);
        assert!(error.len() < 2000 && error.contains("my.toml:") && error.contains("aaa...aaa"), "{error}");
    }
}

#[test]
fn a_configuration_without_an_option_is_not_imported() {
    let error = refusal(&[("my.config", &"\0".repeat(5000))], &["config", "import", "my.config"]);
    assert!(error.contains("my.config:1: no option: must be a GPGPU-Sim configuration"), "{error}");
}
