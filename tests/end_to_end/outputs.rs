//! Output files: none is an input or another output, a failed one does not prevent the others, and each is complete.
use crate::command::selvedge_in;
use crate::own_kernels::data;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Returns every file in a folder with its content.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry"));
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    entries.map(|entry| (name(&entry), fs::read(entry.path()).unwrap_or_default())).collect()
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stderr).lines().map(String::from).collect()
}

/// Checks that the command is refused before it runs, with one line that contains `says`, and leaves the folder
/// unchanged.
fn refused(folder: &Path, words: &[&str], says: &str) {
    let before = contents(folder);
    let output = selvedge_in(folder, words);
    let error = lines(&output);
    assert_eq!(output.status.code(), Some(2), "{words:?}: {error:?}");
    assert!(error.len() == 1 && error[0].contains(says), "{words:?}: `{error:?}` should say `{says}`");
    assert!(output.stdout.is_empty(), "{words:?}: it ran");
    assert_eq!(contents(folder), before, "{words:?}");
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = data();
    let here = folder.path();
    for file in ["kernelslist.g", "kernel-1.traceg", "kernel-2.traceg.xz"] {
        fs::copy(format!("tests/traces/{file}"), here.join(file)).expect("copied");
    }
    let launch = fs::read_to_string(here.join("reverse.toml")).expect("there");
    let codec = r#"{"block": "bdi_compressor", "mappings": [{"energy": {"per_operation": {"value": 2.5, "unit": "nJ"}}}]}"#;
    for (name, text) in [
        ("my.toml", "base = \"gtx480\"\n".to_string()),
        ("eats.toml", launch.replace("twice.bin", "reverse.ptx")),
        ("energy.json", format!(r#"{{"format_version": 1, "blocks": [{codec}]}}"#)),
        ("depth.json", r#"{"found_depths": [{"block": "milg", "latency_cycles": {"value": 2}}]}"#.into()),
        ("temp_2", "1.0\n".into()),
        ("power_2", "1.0\n".into()),
        ("my.lib", "library (l) {}\n".into()),
        ("gpgpusim.config", "-gpgpu_n_clusters 15\n".into()),
    ] {
        fs::write(here.join(name), text).expect("written");
    }
    for words in [
        &["run", "reverse.toml", "--json", "reverse.toml"][..],
        &["run", "reverse.toml", "--csv", "./none/../reverse.ptx"],
        &["run", "reverse.toml", "--vcd", "reverse.in.txt", "--probe", "x"],
        &["run", "reverse.toml+vecadd", "--json", "reverse.toml"],
        &["run", "eats.toml"],
        &["run", "vecadd", "--config", "my.toml", "--stats", "my.toml"],
        &["run", "vecadd", "--energy-from", "energy.json", "--json", "energy.json"],
        &["run", "vecadd", "--latency-from", "depth.json", "--json", "depth.json"],
        &["run", "hotspot", "--input", "temp_2", "--json", "temp_2"],
        &["run", "hotspot", "--input", "temp_2", "--series", "power_2"],
        &["run", "kernelslist.g", "--json", "kernelslist.g"],
        &["run", "kernelslist.g", "--json", "kernel-2.traceg.xz"],
        &["compare", "reverse.toml", "--mechanisms", "base", "--json", "reverse.ptx"],
        &["compare", "vecadd", "--mechanisms", "base", "--config", "my.toml", "--json", "my.toml"],
        &["config", "import", "gpgpusim.config", "-o", "gpgpusim.config"],
        &["area", "milg", "--liberty", "my.lib", "--json", "my.lib"],
        &["area", "milg", "--technologies", "my.lib", "--csv", "my.lib"],
        &["area", "milg", "--energy", "--vcd", "my.lib", "--markdown", "my.lib"],
        &["area", "--mechanism", "dmil", "--config", "my.toml", "--csv", "my.toml"],
        &["fidelity", "--config", "my.toml", "-o", "my.toml"],
    ] {
        refused(here, words, " is the input ");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_an_input_is_the_input() {
    let folder = data();
    let here = folder.path();
    std::os::unix::fs::symlink("reverse.ptx", here.join("link")).expect("a link");
    std::os::unix::fs::symlink("link", here.join("link.strace")).expect("a link");
    fs::hard_link(here.join("reverse.in.txt"), here.join("hard")).expect("a link");
    refused(here, &["run", "reverse.toml", "--json", "link"], "link is the input reverse.ptx");
    refused(here, &["run", "reverse.toml", "--json", "hard"], "hard is the input reverse.in.txt");
    refused(here, &["trace", "record", "reverse.toml", "-o", "link.strace"], "is the input reverse.ptx");
}

#[test]
fn two_outputs_to_one_file_are_refused() {
    let folder = data();
    let here = folder.path();
    let mut cases = vec![
        (&["run", "vecadd", "--json", "a", "--csv", "./a"][..], "--json and --csv name the same file ./a"),
        (
            &["run", "vecadd", "--json", "new/../a", "--series", "a"],
            "--json and --series name the same file a",
        ),
        (&["run", "vecadd", "--json", "-", "--csv", "-"], "--json and --csv name the same file -"),
        (
            &["run", "reverse.toml", "--stats", "twice.bin"],
            "--stats and `save` of reverse.toml name the same",
        ),
        (&["run", "reverse.toml+reverse.toml"], "name the same file twice.bin"),
        (
            &["compare", "vecadd", "--mechanisms", "base", "--plot", "a", "--json", "a"],
            "--plot and --json name the same file a",
        ),
        (&["wave", "milg", "--cycles", "2", "-o", "x.gtkw"], "name the same file x.gtkw"),
    ];
    if cfg!(unix) {
        cases.push((&["run", "vecadd", "--json", "-", "--csv", "/proc/self/fd/1"], "name the same file"));
    }
    for (words, says) in cases {
        refused(here, words, says);
    }
}

#[test]
fn the_folder_that_area_fills_is_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let here = folder.path();
    let keep = ["area", "milg", "milg", "--keep", "k"];
    refused(here, &[&keep[..], &["--csv", "k/milg_2/a.csv"]].concat(), "lies in the folder of --keep");
    refused(
        here,
        &[&keep[..], &["--liberty", "k/milg_1/a.lib"]].concat(),
        "may replace the input k/milg_1/a.lib",
    );
}

#[test]
fn a_waveform_of_several_runs_is_refused() {
    let words = ["run", "--mechanism", "dmil", "--vcd", "x.vcd", "--probe", "sm0.milg"];
    refused(tempfile::tempdir().expect("a folder").path(), &words, "--vcd: must be given with a workload");
}

#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use crate::guide::shell;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    /// Creates a folder with one file `name` that contains "old".
    fn folder_with(name: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join(name), "old").expect("written");
        folder
    }

    fn is_json(path: &Path) -> bool {
        serde_json::from_slice::<serde_json::Value>(&fs::read(path).unwrap_or_default()).is_ok()
    }

    #[test]
    fn an_output_that_fails_leaves_the_others() {
        let folder = data();
        let here = folder.path();
        let files = ["--csv", "ok.csv", "--stats", "ok.txt", "--series", "/dev/full"];
        let output =
            selvedge_in(here, &[&["run", "reverse.toml", "--json", "/dev/full"][..], &files].concat());
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(lines(&output).len(), 2, "{:?}", lines(&output));
        assert!(lines(&output).iter().all(|line| line.starts_with("selvedge: cannot write /dev/full: ")));
        assert!(String::from_utf8_lossy(&output.stdout).contains("pass"), "the table is printed");
        for file in ["ok.csv", "ok.txt", "twice.bin"] {
            assert!(here.join(file).is_file(), "{file}");
        }
    }

    #[test]
    fn an_output_that_fails_leaves_the_others_of_compare() {
        let folder = tempfile::tempdir().expect("a folder");
        let words = ["compare", "vecadd", "--size", "tiny", "--mechanisms", "base", "--plot", "/dev/full"];
        let output = selvedge_in(folder.path(), &[&words[..], &["--json", "r.json"]].concat());
        assert_eq!((output.status.code(), lines(&output).len()), (Some(2), 1), "{:?}", lines(&output));
        assert!(String::from_utf8_lossy(&output.stdout).contains("vecadd"), "the table is printed");
        assert!(is_json(&folder.path().join("r.json")));
    }

    #[test]
    fn a_full_standard_output_leaves_the_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = shell(folder.path(), "selvedge run vecadd --json r.json > /dev/full");
        assert_eq!((output.status.code(), lines(&output).len()), (Some(2), 1), "{:?}", lines(&output));
        assert!(is_json(&folder.path().join("r.json")));
    }

    #[test]
    fn wrong_results_give_the_exit_code_beside_an_output_that_fails() {
        let folder = data();
        let wanted = folder.path().join("stack.out.txt");
        let text = fs::read_to_string(&wanted).expect("there").replace("637", "636");
        fs::write(&wanted, text).expect("written");
        let output = selvedge_in(folder.path(), &["run", "stack.toml", "--json", "/dev/full"]);
        let error = lines(&output);
        assert_eq!(output.status.code(), Some(1), "{error:?}");
        assert!(error[0].contains("cannot write") && error[1].contains("wants 636"), "{error:?}");
    }

    #[test]
    fn a_new_file_has_the_mode_that_the_umask_leaves() {
        let folder = tempfile::tempdir().expect("a folder");
        for (umask, mode) in [("077", 0o600), ("027", 0o640), ("022", 0o644)] {
            let line = format!(
                "umask {umask}; selvedge run vecadd --json {umask}.json; selvedge gen milg -o {umask}"
            );
            assert!(shell(folder.path(), &line).status.success());
            for file in [format!("{umask}.json"), format!("{umask}/milg.v")] {
                let found = folder.path().join(&file).metadata().expect(&file).permissions().mode();
                assert_eq!(found & 0o777, mode, "{file}");
            }
        }
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode() {
        let folder = folder_with("r.json");
        let path = folder.path().join("r.json");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o606)).expect("set");
        assert!(shell(folder.path(), "umask 022; selvedge run vecadd --json r.json").status.success());
        assert!(is_json(&path));
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o606);
    }

    #[test]
    fn a_link_stays_and_the_file_that_it_leads_to_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path();
        fs::create_dir(here.join("there")).expect("a folder");
        fs::write(here.join("there/old.json"), "old").expect("written");
        for (link, target) in [("a", "b"), ("b", "there/old.json"), ("dangling", "there/new.json")] {
            symlink(target, here.join(link)).expect("a link");
        }
        for (link, target) in [("a", "there/old.json"), ("dangling", "there/new.json")] {
            let output = selvedge_in(here, &["run", "vecadd", "--json", link]);
            assert!(output.status.success(), "{:?}", lines(&output));
            assert!(here.join(link).is_symlink(), "{link}");
            let written = here.join(target);
            assert!(!written.is_symlink() && is_json(&written), "{target}");
        }
        assert!(here.join("b").is_symlink());
        assert_eq!(contents(&here.join("there")).len(), 2, "no temporary file is left");
    }

    #[test]
    fn the_name_of_standard_output_is_standard_output() {
        // Do not use its name in /dev: a defect would replace that file on a host where tests run as root.
        let folder = tempfile::tempdir().expect("a folder");
        assert!(shell(folder.path(), "selvedge run vecadd --json /proc/self/fd/1 > r.json").status.success());
        assert!(is_json(&folder.path().join("r.json")));
    }

    /// Checks that `line` fails with one line of error and leaves the folder `out` unchanged.
    fn leaves_the_old_set(line: &str, old: &[&str]) {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        fs::create_dir(&out).expect("a folder");
        for name in old {
            fs::write(out.join(name), "old").expect("written");
        }
        let before = contents(&out);
        let output = shell(folder.path(), line);
        assert_eq!(
            (output.status.code(), lines(&output).len()),
            (Some(2), 1),
            "{line}: {:?}",
            lines(&output)
        );
        assert!(lines(&output)[0].starts_with("selvedge: cannot write out/"), "{:?}", lines(&output));
        assert_eq!(contents(&out), before, "{line}");
    }

    #[test]
    fn a_full_disk_leaves_no_half_set() {
        // A limit on the file size simulates a full disk: some files of the set are below it, others above.
        let full = "trap '' XFSZ; ulimit -f 4; ";
        leaves_the_old_set(&format!("{full} selvedge gen milg -o out"), &["milg.core", "milg.v"]);
        leaves_the_old_set(&format!("{full} selvedge gen milg -o out"), &[]);
    }

    #[test]
    fn a_folder_in_the_place_of_a_file_leaves_no_half_set() {
        for (command, file) in
            [("gen milg -o out", "milg.ys"), ("wave milg --cycles 2 -o out/x.vcd", "x.gtkw")]
        {
            let line = format!("mkdir out/{file}; selvedge {command}; e=$?; rmdir out/{file}; exit $e");
            leaves_the_old_set(&line, &["milg.v", "x.vcd"]);
        }
    }

    /// Replacement of `fsync` that logs each synced path, and whether the output has its final name at that time.
    const FSYNC: &str = r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        int fsync(int file) {
            char link[64], name[4096] = {0};
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            readlink(link, name, sizeof name - 1);
            FILE *log = fopen(getenv("FSYNC_LOG"), "a");
            fprintf(log, "%s %d\n", name, access(getenv("FSYNC_OUTPUT"), F_OK) == 0);
            return fclose(log);
        }
    "#;

    #[test]
    fn a_file_is_on_the_disk_before_it_takes_its_name_and_its_folder_after() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path().canonicalize().expect("it is there");
        fs::write(here.join("fsync.c"), FSYNC).expect("written");
        fs::create_dir(here.join("out")).expect("a folder");
        let compiled = shell(&here, "g++ -x c -shared -fPIC fsync.c -o fsync.so");
        assert!(compiled.status.success(), "{:?}", lines(&compiled));
        let run = "FSYNC_LOG=log FSYNC_OUTPUT=out/r.json LD_PRELOAD=./fsync.so selvedge run vecadd --json out/r.json";
        assert!(shell(&here, run).status.success());
        let log = fs::read_to_string(here.join("log")).expect("there");
        let out = format!("{}/out", here.display());
        let [file, named] = log.lines().collect::<Vec<_>>()[..] else { panic!("{log}") };
        assert!(file.starts_with(&format!("{out}/.selvedge")) && file.ends_with(" 0"), "{file}");
        assert_eq!(named, format!("{out} 1"));
    }

    /// PTX of a kernel that never ends.
    const SPIN: &str = ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k() {\nA: bra A;\n}\n";

    /// Starts the command in `folder`, which contains a launch file `spin.toml` that never ends. Interrupts the command
    /// once it runs, and returns its output.
    fn interrupted(folder: &Path, words: &[&str]) -> Output {
        fs::write(folder.join("k.ptx"), SPIN).expect("written");
        let launch = "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n";
        fs::write(folder.join("spin.toml"), launch).expect("written");
        let run = Command::new(env!("CARGO_BIN_EXE_selvedge"))
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(std::time::Duration::from_secs(5));
        let id = run.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
        run.wait_with_output().expect("the run ends")
    }

    #[test]
    fn an_interrupted_run_leaves_earlier_results_and_writes_its_own_beside_them() {
        let folder = folder_with("r.json");
        let here = folder.path();
        let output = interrupted(here, &["run", "spin.toml", "--json", "r.json", "--csv", "r.csv"]);
        let error = lines(&output);
        assert_eq!(output.status.code(), Some(130), "{error:?}");
        let says = "selvedge: partial results are in r.json.partial, r.csv.partial";
        assert!(error.iter().any(|line| line == says), "{error:?}");
        assert_eq!(fs::read_to_string(here.join("r.json")).expect("there"), "old");
        assert!(is_json(&here.join("r.json.partial")) && here.join("r.csv.partial").is_file());
        assert!(!here.join("r.csv").exists(), "what is there under its own name is whole");
    }

    #[test]
    fn an_interrupted_compare_leaves_earlier_results_and_writes_its_own_beside_them() {
        let folder = folder_with("r.svg");
        let here = folder.path();
        let words =
            ["compare", "vecadd", "spin.toml", "--size", "tiny", "--mechanisms", "base", "--jobs", "1"];
        let output = interrupted(here, &[&words[..], &["--plot", "r.svg", "--json", "r.json"]].concat());
        let error = lines(&output);
        assert_eq!(output.status.code(), Some(130), "{error:?}");
        assert_eq!(fs::read_to_string(here.join("r.svg")).expect("there"), "old");
        assert!(is_json(&here.join("r.json.partial")) && here.join("r.svg.partial").is_file());
        assert!(!here.join("r.json").exists());
    }

    #[test]
    fn a_partial_result_does_not_replace_an_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = folder.path();
        let machine = "base = \"gtx480\"\n";
        fs::write(here.join("r.partial"), machine).expect("written");
        let output = interrupted(here, &["run", "spin.toml", "--config", "r.partial", "--json", "r"]);
        assert_eq!(output.status.code(), Some(130));
        let is_named = lines(&output).iter().any(|line| line.contains("r.partial is the input"));
        assert!(is_named, "{:?}", lines(&output));
        assert_eq!(fs::read_to_string(here.join("r.partial")).expect("there"), machine);
    }
}
