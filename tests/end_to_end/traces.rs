//! Traces: a replay reports the same as the execution, and wrong files are refused with one line.
use crate::command::selvedge_in;
use std::fs;
use std::path::Path;

/// Copies tests/traces to a temporary folder.
fn copy_of_the_traces() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("tests/traces");
    fs::create_dir_all(&folder).expect("a folder");
    for file in ["kernelslist.g", "kernel-1.traceg", "kernel-2.traceg.xz"] {
        fs::copy(Path::new("tests/traces").join(file), folder.join(file)).expect(file);
    }
    root
}

/// Returns the JSON report of a run, without its source's name and values that depend on the host.
fn report(folder: &Path, words: &[&str]) -> String {
    let output = selvedge_in(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let mut json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let map = json.as_object_mut().expect("an object");
    map.remove("workload").expect("a name");
    map.remove("races").expect("whether it races, which a replay does not");
    map.remove("host").expect("measurements");
    serde_json::to_string_pretty(&json).expect("it was JSON")
}

#[test]
fn a_replay_reports_what_the_execution_did() {
    let folder = tempfile::tempdir().expect("a folder");
    for mechanism in ["base", "hw-bdi+dmil"] {
        let recorded = ["trace", "record", "bfs", "--mechanism", mechanism, "-o", "bfs.strace"];
        let output = selvedge_in(folder.path(), &recorded);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let run = |source| report(folder.path(), &["run", source, "--mechanism", mechanism, "--json", "-"]);
        assert_eq!(run("bfs.strace"), run("bfs"), "{mechanism}");
    }
}

#[test]
fn an_exported_trace_takes_the_cycles_of_the_record() {
    let folder = tempfile::tempdir().expect("a folder");
    // Shared memory and barriers, divergence and atomics, floating point, more registers than the format has names.
    for (workload, launches) in [("scan", 3), ("bfs", 16), ("hotspot", 2), ("histogram", 2)] {
        let record = format!("{workload}.strace");
        let words = ["trace", "record", workload, "--engine", "model", "-o", &record];
        let recorded = selvedge_in(folder.path(), &words);
        assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
        let exported = selvedge_in(folder.path(), &["trace", "export", &record, "-o", workload]);
        assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
        let list = format!("{workload}/kernelslist.g");
        assert_eq!(fs::read_to_string(folder.path().join(&list)).expect("there").lines().count(), launches);
        let totals = |source: &str| {
            let json: serde_json::Value =
                serde_json::from_str(&report(folder.path(), &["run", source, "--json", "-"])).expect("JSON");
            ["cycles", "warp_instructions", "thread_instructions", "l1d", "l2", "dram"]
                .map(|key| json["totals"][key].clone())
        };
        assert_eq!(totals(&record), totals(&list), "{workload}");
    }
}

#[test]
fn a_kernel_that_the_format_cannot_express_is_not_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    write("k.toml", "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [64]\n");
    let kernel =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n bar.sync 1, 64;\n ret;\n}\n";
    write("k.ptx", kernel);
    let recorded = selvedge_in(folder.path(), &["trace", "record", "k.toml", "-o", "k.strace"]);
    assert!(recorded.status.success(), "{}", String::from_utf8_lossy(&recorded.stderr));
    let output = selvedge_in(folder.path(), &["trace", "export", "k.strace", "-o", "k"]);
    let line = "selvedge: k.strace: kernel k: it uses barriers of a part of the CTA: unsupported\n";
    assert_eq!(String::from_utf8_lossy(&output.stderr), line);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path().join("k/kernelslist.g").exists());
}

#[test]
fn wrong_traces_and_options_get_one_line_and_exit_code_2() {
    let root = copy_of_the_traces();
    let folder = root.path().join("tests/traces");
    let whole = fs::read_to_string(folder.join("kernel-1.traceg")).expect("there");
    fs::write(folder.join("cut.traceg"), &whole[..whole.len() / 2]).expect("written");
    fs::write(folder.join("foreign.strace"), "PK and so on").expect("written");
    let cases: [(&[&str], &str); 19] = [
        (&["run", "none.strace"], "none.strace: cannot read it"),
        (&["run", "foreign.strace"], "foreign.strace: offset 0: not a trace"),
        (&["run", "cut.traceg"], "cut.traceg:"),
        (&["trace", "info", "cut.traceg"], "cut.traceg:"),
        (
            &["trace", "export", "kernel-1.traceg", "-o", "x"],
            "kernel-1.traceg: must be a name that ends in .strace",
        ),
        (&["trace", "export", "foreign.strace", "-o", "x"], "foreign.strace: offset 0: not a trace"),
        (&["trace", "info", "kernel.txt"], "kernel.txt: no name of a trace: must be NAME.strace"),
        (&["run", "kernel-1.traceg", "--size", "tiny"], "--size: allowed with workloads, not with traces"),
        (&["run", "kernel-1.traceg+bfs"], "kernel-1.traceg: a trace runs alone"),
        (&["trace", "record", "kernel-1.traceg", "-o", "x.strace"], "kernel-1.traceg: a trace runs alone"),
        (&["trace", "record", "vecadd", "-o", "x.json"], "x.json: must be a name that ends in .strace"),
        (
            &["run", "kernel-1.traceg", "--mechanism", "hw-bdi"],
            "; --values gives the trace values, and a workload",
        ),
        (
            &["run", "kernel-1.traceg", "--mechanism", "caba-memo"],
            "it looks at the values in registers, which the trace of kernel-1.traceg does not have (--values gives only",
        ),
        (
            &["run", "kernel-1.traceg", "--values", "zeros=0.5,random=0.4"],
            "--values zeros=0.5,random=0.4: the fractions add up to 0.9: must add up to 1",
        ),
        (&["run", "kernel-1.traceg", "--values", "zero=1"], "unknown class 'zero': must be one of zeros, "),
        (
            &["run", "kernel-1.traceg", "--values", "none.bin"],
            "--values none.bin: cannot read the file: No such file",
        ),
        (&["run", "bfs+vecadd", "--values", "zeros"], "--values: bfs+vecadd: must be one Accel-Sim trace"),
        (
            &["run", "vecadd", "--values", "zeros"],
            "--values zeros: vecadd has values of its own: must be an Accel-Sim",
        ),
        (
            &["compare", "kernel-1.traceg", "vecadd", "--mechanisms", "base", "--values", "random"],
            "--values random: vecadd has values of its own",
        ),
    ];
    for (words, says) in cases {
        let output = selvedge_in(&folder, words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(
            error.lines().count() == 1 && error.contains(says),
            "{words:?}: `{error}` should say `{says}`"
        );
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    assert!(!folder.join("x.strace").exists());
}

/// Runs the list of traces with these words, and returns standard output.
fn of_list(folder: &Path, words: &[&str]) -> String {
    let output = selvedge_in(folder, words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_model_gives_the_same_results_at_any_number_of_jobs_and_is_named_in_each() {
    let root = copy_of_the_traces();
    let folder = root.path().join("tests/traces");
    let mechanisms = "base,hw-bdi,static-bdi,latte-cc,bgp";
    let of_jobs = |values: &str, jobs: &str| {
        let words =
            ["compare", "kernelslist.g", "--values", values, "--mechanisms", mechanisms, "--jobs", jobs];
        let mut text = of_list(&folder, &words);
        let csv = of_list(&folder, &[&words[..], &["--csv", "-"]].concat());
        // The columns of the host are the only ones that differ.
        let mut rows = csv::Reader::from_reader(csv.as_bytes());
        let header = rows.headers().expect("a header").clone();
        for row in rows.records() {
            let row = row.expect("a row");
            let cells = header.iter().zip(&row).filter(|(name, _)| !name.starts_with("host."));
            text += &format!("{cells:?}\n", cells = cells.collect::<Vec<_>>());
        }
        text
    };
    let values = "zeros=0.25,b8d2=0.25,random=0.5,seed=3";
    let one = of_jobs(values, "1");
    assert_eq!(one, of_jobs(values, "4"));
    assert!(one.contains(&format!("values: kernelslist.g: from the model {values}\n")), "{one}");
    assert_eq!(one.matches(&format!("(\"values\", \"{values}\")")).count(), 5, "{one}");
    assert_ne!(one, of_jobs("random", "1"));
    let run = ["run", "kernelslist.g", "--values", values, "--mechanism", "hw-bdi"];
    assert!(of_list(&folder, &run).contains(&format!("values: kernelslist.g: from the model {values}\n")));
    let report = of_list(&folder, &[&run[..], &["--json", "-"]].concat());
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(report["values"], values);
    fs::write(folder.join("run.json"), report.to_string()).expect("written");
    let page = of_list(&folder, &["report", "run.json", "-o", "-"]);
    assert!(page.contains(&format!("kernelslist.g {values}")), "the page names no model");
}

#[test]
fn a_file_gives_values_by_its_bytes() {
    let root = copy_of_the_traces();
    let folder = root.path().join("tests/traces");
    let bursts = |values: &str| {
        let words = ["run", "kernelslist.g", "--values", values, "--mechanism", "hw-bdi", "--json", "-"];
        let report: serde_json::Value = serde_json::from_str(&of_list(&folder, &words)).expect("JSON");
        report["totals"]["line_bursts"].clone()
    };
    fs::write(folder.join("zero.bin"), [0; 1000]).expect("written");
    // 127 bytes of a counter in steps of 113, so that no two words of a line are near each other.
    fs::write(folder.join("many.bin"), (0..127u8).map(|at| at.wrapping_mul(113)).collect::<Vec<_>>())
        .expect("written");
    assert_eq!(bursts("zero.bin"), bursts("zeros"));
    assert_eq!(bursts("many.bin"), bursts("random"));
    assert_ne!(bursts("many.bin"), bursts("zeros"));
}

#[test]
fn a_checkpoint_belongs_to_its_values() {
    let root = copy_of_the_traces();
    let folder = root.path().join("tests/traces");
    let words = ["run", "kernelslist.g", "--mechanism", "hw-bdi", "--json", "-", "--values"];
    let run = |values: &str, more: &[&str]| selvedge_in(&folder, &[&words[..], &[values], more].concat());
    let ended = run("random", &["--checkpoint", "c", "--max-cycles", "300"]);
    assert!(folder.join("c").exists(), "{}", String::from_utf8_lossy(&ended.stderr));
    let refused = run("zeros", &["--resume", "c"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(2) && error.contains("--values"), "{error}");
    let totals = |output: std::process::Output| -> serde_json::Value {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON")["totals"].clone()
    };
    assert_eq!(totals(run("random", &["--resume", "c"])), totals(run("random", &[])));
}
