//! Studies on clusters: Snakemake and Slurm, with killed jobs and daemons, collect the same bytes as a local run.
//!
//! Snakemake is in `target/python` (`tests/run`). `tests/slurm` starts a Slurm of one node; its programs are in
//! Debian's package slurm-wlm.
use crate::command::selvedge_in;
use selvedge_testbenches::skipped::{is_long_run, skip};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A study with two points.
const TWO: &str = "size = \"tiny\"\nworkloads = [\"vecadd\"]\nmechanisms = [\"base\", \"dmil\"]\n";

/// A study with forty points.
const FORTY: &str = "size = \"tiny\"\nworkloads = [\"bfs\", \"scan\", \"atax\", \"kmeans\"]\nmechanisms = [\"base\", \"dmil\"]\n\
                     [[vary]]\nkey = \"l1d.ways\"\nvalues = [1, 2, 4, 8, 16]\n";
const FORTY_POINTS: usize = 40;

/// Max time of an engine.
const PATIENCE: Duration = Duration::from_secs(600);

/// Creates a folder with the study as `s.toml`, exported for an engine to `jobs`.
fn exported(engine: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("s.toml"), text).expect("written");
    let words = ["study", "export", engine, "s.toml", "--store", "shared", "--output", "jobs"];
    demand(&selvedge_in(folder.path(), &words), "export");
    folder
}

fn demand(output: &Output, what: &str) {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}: {}: {out}{error}", output.status);
}

/// Returns the table of a store, without values that differ between runs.
fn collected(here: &Path, store: &str) -> String {
    let output = selvedge_in(here, &["study", "collect", "s.toml", "--store", store, "--reproducible"]);
    demand(&output, "collect");
    String::from_utf8(output.stdout).expect("text")
}

/// Simulates the study locally, and compares the tables of both stores.
fn demand_local_bytes(here: &Path, points: usize) {
    demand(&selvedge_in(here, &["study", "s.toml", "--store", "local"]), "the local run");
    let expected = collected(here, "local");
    assert_eq!(expected.lines().count(), points + 1);
    assert_eq!(collected(here, "shared"), expected);
    let table = fs::read_to_string(here.join("jobs/results.csv")).expect("the job that collects has run");
    assert_eq!(table.lines().count(), points + 1);
    assert!(!table.contains(",missing,"), "{table}");
    assert!(fs::read(here.join("jobs/results.parquet")).expect("written").starts_with(b"PAR1"));
}

/// Counts the files with the extension `end` in the folders of points.
fn files(here: &Path, end: &str) -> usize {
    let folders = fs::read_dir(here.join("shared")).into_iter().flatten().flatten();
    let points = folders.filter(|folder| folder.file_name().len() == 2);
    let files = points.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    files.filter(|file| file.path().extension().is_some_and(|extension| extension == end)).count()
}

/// Waits until `points` points have ended and another is being simulated.
fn wait_for_points(here: &Path, points: usize) {
    wait_until("points end", || files(here, "json") >= points && !simulating(here).is_empty());
}

fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < PATIENCE, "it takes too long until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the processes that simulate points of this store.
fn simulating(here: &Path) -> Vec<String> {
    let is_one = |words: &[u8]| {
        let text = String::from_utf8_lossy(words);
        let words: Vec<&str> = text.split('\0').collect();
        words[0].ends_with("selvedge") && words.iter().any(|word| Path::new(word).starts_with(here))
    };
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let names = processes.filter_map(|process| process.file_name().into_string().ok());
    let names = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    names.filter(|name| fs::read(format!("/proc/{name}/cmdline")).is_ok_and(|words| is_one(&words))).collect()
}

/// Kills one process that simulates a point.
fn kill_one(here: &Path) {
    wait_until("a point is simulated", || match simulating(here).first() {
        Some(process) => Command::new("kill").args(["-9", process]).status().expect("kill runs").success(),
        None => false,
    });
}

fn snakemake(test: &str) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/python/bin/snakemake");
    if program.is_file() {
        return Some(program);
    }
    skip(test, "no Snakemake: tests/run installs it to target/python");
    None
}

/// Starts Snakemake on the exported file in a separate process group.
fn start_snakemake(program: &Path, here: &Path, words: &[&str]) -> Child {
    let log = fs::File::create(here.join("snakemake.log")).expect("created");
    let mut command = Command::new(program);
    command.args(["--snakefile", "jobs/Snakefile", "--cores", "2", "--quiet"]).args(words);
    command.env("XDG_CACHE_HOME", here).current_dir(here).process_group(0);
    command.stdin(Stdio::null()).stdout(log.try_clone().expect("the same")).stderr(log);
    command.spawn().expect("Snakemake starts")
}

fn demand_snakemake(program: &Path, here: &Path, words: &[&str]) {
    let status = start_snakemake(program, here, words).wait().expect("it ends");
    let log = fs::read_to_string(here.join("snakemake.log")).unwrap_or_default();
    assert!(status.success(), "{words:?}: {status}: {log}");
}

#[test]
fn two_points_by_snakemake_are_those_of_a_local_run() {
    let Some(program) = snakemake("two_points_by_snakemake_are_those_of_a_local_run") else { return };
    let folder = exported("snakemake", TWO);
    demand_snakemake(&program, folder.path(), &[]);
    demand_local_bytes(folder.path(), 2);
}

#[test]
fn forty_points_by_snakemake_survive_its_death_and_that_of_a_job() {
    let test = "forty_points_by_snakemake_survive_its_death_and_that_of_a_job";
    if !is_long_run("forty_points_by_snakemake_survive_its_death_and_that_of_a_job") {
        return;
    }
    let Some(program) = snakemake(test) else { return };
    let folder = exported("snakemake", FORTY);
    let here = folder.path();
    let mut first = start_snakemake(&program, here, &[]);
    wait_for_points(here, 5);
    let group = format!("-{}", first.id());
    assert!(Command::new("kill").args(["-9", "--", &group]).status().expect("kill runs").success());
    first.wait().expect("it ends");
    // Its jobs are in other process groups.
    simulating(here).iter().for_each(|process| {
        let _ = Command::new("kill").args(["-9", process]).status();
    });
    let ended = files(here, "json");
    assert!((5..FORTY_POINTS).contains(&ended), "{ended} points had ended");
    demand_snakemake(&program, here, &["--unlock"]);
    let mut second = start_snakemake(&program, here, &["--rerun-incomplete"]);
    wait_for_points(here, ended + 5);
    kill_one(here);
    let status = second.wait().expect("it ends");
    let log = fs::read_to_string(here.join("snakemake.log")).unwrap_or_default();
    assert!(status.success(), "a job is tried again: {log}");
    demand_local_bytes(here, FORTY_POINTS);
}

/// A Slurm installation. Drop ends its daemons.
struct Slurm {
    folder: PathBuf,
}

impl Slurm {
    fn start(folder: &Path) -> Self {
        let slurm = Slurm { folder: folder.join("slurm") };
        slurm.ask("start");
        wait_until("the node is there", || slurm.say("sinfo", &["-h", "-o", "%T"]).trim() == "idle");
        slurm
    }

    fn ask(&self, command: &str) {
        let output = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slurm"))
            .args([Path::new(command), &self.folder])
            // Daemons would keep a pipe open, and the command would wait for them.
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("it starts");
        assert!(output.success(), "tests/slurm {command}");
    }

    fn say(&self, program: &str, words: &[&str]) -> String {
        let output =
            Command::new(program).args(words).env("SLURM_CONF", self.folder.join("slurm.conf")).output();
        let output = output.expect("it starts");
        String::from_utf8(output.stdout).expect("text")
    }

    fn submit(&self, here: &Path) {
        let mut shell = Command::new("sh");
        shell.arg(here.join("jobs/submit.sh")).env("SLURM_CONF", self.folder.join("slurm.conf"));
        demand(&shell.current_dir(here).output().expect("it starts"), "submit.sh");
    }

    fn wait_for_the_end(&self) {
        wait_until("all jobs end", || {
            std::thread::sleep(Duration::from_millis(200));
            self.say("squeue", &["-h"]).trim().is_empty()
        });
    }

    /// Returns the number of restarts of all jobs.
    fn restarts(&self) -> usize {
        let jobs = self.say("scontrol", &["-o", "show", "jobs"]);
        let counts = jobs.split_whitespace().filter_map(|word| word.strip_prefix("Restarts="));
        counts.map(|count| count.parse::<usize>().expect("a count")).sum()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.ask("stop");
    }
}

#[test]
fn forty_points_by_slurm_survive_the_death_of_the_node_and_of_a_job() {
    let test = "forty_points_by_slurm_survive_the_death_of_the_node_and_of_a_job";
    if !is_long_run("forty_points_by_slurm_survive_the_death_of_the_node_and_of_a_job") {
        return;
    }
    if ["slurmctld", "slurmd", "munged"].iter().any(|name| !Path::new("/usr/sbin").join(name).is_file()) {
        skip(test, "no Slurm: Debian's slurm-wlm and munge have it");
        return;
    }
    let folder = exported("slurm", FORTY);
    let here = folder.path();
    let slurm = Slurm::start(here);
    slurm.submit(here);
    wait_for_points(here, 5);
    slurm.ask("fail");
    let ended = files(here, "json");
    assert!((5..FORTY_POINTS).contains(&ended), "{ended} points had ended");
    slurm.ask("node");
    wait_until("the jobs of the node are requeued", || slurm.restarts() > 0);
    let restarts = slurm.restarts();
    wait_until("a running job is requeued by its user", || {
        std::thread::sleep(Duration::from_millis(200));
        let running = slurm.say("squeue", &["-h", "-r", "-t", "R", "-o", "%i"]);
        if let Some(job) = running.lines().next() {
            slurm.say("scontrol", &["requeue", job]);
        }
        slurm.restarts() > restarts
    });
    // Kill a point's process, as the out-of-memory killer would: the point is missing in the table.
    kill_one(here);
    slurm.wait_for_the_end();
    // Submit again: only the missing points are simulated.
    slurm.submit(here);
    slurm.wait_for_the_end();
    demand_local_bytes(here, FORTY_POINTS);
}
