//! A run that is killed, or ended by a signal or a limit, continues from its checkpoint and ends like an undisturbed
//! run.
use crate::command::selvedge_in;
use selvedge_hw::Prng;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

/// Run of the tests: launches that depend on data that the host reads, and a mechanism with RTL in SMs and partitions.
const RUN: [&str; 6] = ["run", "kmeans", "--size", "tiny", "--mechanism", "hw-bdi"];

/// Returns the report of a finished run, without values that depend on the host.
fn report(folder: &Path, words: &[&str]) -> Value {
    let output = selvedge_in(folder, &[words, &["--json", "-"]].concat());
    assert!(output.status.success(), "{words:?}: {}", error(&output));
    let mut report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    report.as_object_mut().expect("an object").remove("host").expect("measurements");
    report
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the line that refuses the command.
fn refusal(folder: &Path, words: &[&str]) -> String {
    let output = selvedge_in(folder, words);
    let error = error(&output);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

fn start(folder: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    command.args(words).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the command starts")
}

/// Returns the time when the file was written, if it exists.
fn written(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|found| found.modified()).ok()
}

#[test]
fn a_run_that_is_killed_ten_times_ends_as_one_that_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.ckpt");
    let plain = report(folder.path(), &RUN);
    let checkpoints = ["--checkpoint", "run.ckpt", "--checkpoint-every", "3000"];
    let mut random = Prng::new(10);
    for kill in 0..10 {
        let resume: &[&str] = if kill > 0 { &["--resume", "run.ckpt"] } else { &[] };
        let before = written(&file);
        let mut run = start(folder.path(), &[&RUN, &checkpoints[..], resume].concat());
        // Kill after the run's first checkpoint, so that it advances, and then at a random time, possibly within the
        // next checkpoint.
        while written(&file) == before {
            assert_eq!(run.try_wait().expect("it is ours"), None, "it runs until it is killed ({kill})");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random.below(20_000)));
        run.kill().expect("it is ours");
        run.wait().expect("it is ours");
    }
    assert_eq!(report(folder.path(), &[&RUN[..], &["--resume", "run.ckpt"]].concat()), plain);
}

#[test]
fn programs_that_run_together_continue() {
    let folder = tempfile::tempdir().expect("a folder");
    for share in ["left-over", "smk-p", "warped-slicer:3000"] {
        let run =
            ["run", "bfs+kmeans", "--share", share, "--mechanism", "dmil", "--engine", "model", "--check"];
        let plain = report(folder.path(), &run);
        for cycles in ["1234", "20000"] {
            let limit = ["--checkpoint", "both.ckpt", "--max-cycles", cycles];
            let stopped = selvedge_in(folder.path(), &[&run[..], &limit].concat());
            assert_eq!(stopped.status.code(), Some(3), "{}", error(&stopped));
            let continued = report(folder.path(), &[&run[..], &["--resume", "both.ckpt"]].concat());
            assert_eq!(continued, plain, "{share} from {cycles}");
        }
    }
}

#[test]
fn launch_files_and_traces_continue() {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let trace = selvedge_in(folder.path(), &["trace", "record", "bfs", "-o", "bfs.strace"]);
    assert!(trace.status.success(), "{}", error(&trace));
    for name in ["reach.toml", "reach.ptx", "reach.start.txt", "reach.changed.txt", "reach.end.txt"] {
        fs::copy(tree.join("tests/data").join(name), folder.path().join(name)).expect("copied");
    }
    for workload in ["bfs.strace", "reach.toml"] {
        let run = ["run", workload, "--series", "series.csv", "--every", "500"];
        let plain =
            (report(folder.path(), &run), fs::read(folder.path().join("series.csv")).expect("a series"));
        let stopped =
            selvedge_in(folder.path(), &[&run[..], &["--checkpoint", "c", "--max-cycles", "1777"]].concat());
        assert_eq!(stopped.status.code(), Some(3), "{}", error(&stopped));
        let continued = report(folder.path(), &[&run[..], &["--resume", "c"]].concat());
        let series = fs::read(folder.path().join("series.csv")).expect("a series");
        assert_eq!((continued, series), plain, "{workload}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_a_checkpoint() {
    let folder = tempfile::tempdir().expect("a folder");
    let endless = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/forever.toml").display().to_string();
    let mut run =
        start(folder.path(), &["run", &endless, "--checkpoint", "c", "--checkpoint-every", "1000000000"]);
    std::thread::sleep(Duration::from_secs(2));
    let signal = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(signal.expect("kill runs").success());
    assert_eq!(run.wait().expect("it is ours").code(), Some(130));
    let limited = selvedge_in(folder.path(), &["run", &endless, "--resume", "c", "--max-cycles", "1"]);
    assert_eq!(limited.status.code(), Some(3), "it continues beyond the limit: {}", error(&limited));
}

#[test]
fn what_is_no_checkpoint_of_the_run_is_refused_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let limited = ["run", "vecadd", "--checkpoint", "c", "--max-cycles", "500"];
    assert_eq!(selvedge_in(folder.path(), &limited).status.code(), Some(3));
    let other = |words: &[&str]| refusal(folder.path(), &[words, &["--resume", "c"]].concat());
    assert!(other(&["run", "bfs"]).ends_with("workload is vecadd: must be bfs, as in this command\n"));
    assert!(other(&["run", "vecadd", "--mechanism", "bgp"]).contains("mechanism is base: must be bgp"));
    assert!(other(&["run", "vecadd", "--engine", "model"]).contains("engine is rtl: must be model"));
    assert!(other(&["run", "vecadd", "--size", "small"]).contains("size is tiny: must be small"));
    assert!(other(&["run", "vecadd", "--config", "gtx480-dai"]).contains("configuration is gtx480 (hash"));
    let bytes = fs::read(folder.path().join("c")).expect("a checkpoint");
    fs::write(folder.path().join("c"), &bytes[..bytes.len() / 2]).expect("it is cut");
    assert!(other(&["run", "vecadd"]).contains("damaged"));
    fs::write(folder.path().join("c"), "text").expect("it is another file");
    assert!(other(&["run", "vecadd"]).contains("must be a checkpoint"));
}

#[test]
fn options_that_a_checkpoint_cannot_hold_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for words in [
        &["run", "bfs", "--probe", "sm0.milg", "--mechanism", "dmil", "--vcd", "w.vcd"][..],
        &["run", "bfs", "--mechanism", "dmil", "--inject", "sm0.milg:5:0"],
        &["run"],
    ] {
        let line = refusal(folder.path(), &[words, &["--checkpoint", "c"]].concat());
        assert!(line.contains("--checkpoint: must be given with"), "{line}");
    }
    for words in [&["run", "bfs", "--functional"][..], &["run", "bfs", "--intervals", "2"]] {
        let line = refusal(folder.path(), &[words, &["--checkpoint", "c"]].concat());
        assert!(line.contains("cannot be used with '--checkpoint <FILE>'"), "{line}");
    }
}
