//! `run --functional`, `--intervals` and `--launch`: they report their work, refuse unsupported input, and end when stopped.
use crate::command::selvedge_in;
use serde_json::Value;
use std::path::Path;

/// Runs the command. Returns exit code, standard output and standard error.
fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let output = selvedge_in(Path::new("."), &[&["run"], words].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Returns the JSON of a run.
fn report(words: &[&str]) -> Value {
    let (code, json, error) = run(&[words, &["--json", "-"]].concat());
    assert_eq!(code, Some(0), "{words:?}: {error}");
    serde_json::from_str(&json).expect("a report")
}

#[test]
fn a_functional_run_executes_what_the_timed_run_issues() {
    let (functional, timed) = (report(&["bfs", "--functional"]), report(&["bfs"]));
    assert_eq!(functional["result"], "pass");
    for key in ["warp_instructions", "thread_instructions"] {
        assert_eq!(functional[key], timed["totals"][key], "{key}");
    }
}

#[test]
fn a_launch_file_runs_without_timing() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["reverse.toml", "reverse.ptx", "reverse.in.txt"] {
        std::fs::copy(Path::new("tests/data").join(name), folder.path().join(name)).expect("copied");
    }
    let file = folder.path().join("reverse.toml").display().to_string();
    let (code, table, error) = run(&[&file, "--functional"]);
    assert_eq!((code, error.as_str()), (Some(0), ""), "{table}");
    assert!(table.lines().nth(1).is_some_and(|row| row.contains("reverse.toml ")), "{table}");
}

/// Creates a folder with `k.ptx`, a kernel of `body`, and `k.toml`, a launch file that saves a buffer of 64 words.
/// `%rd1` is the buffer, `%r1` the thread in the grid, `%r2` its CTA.
fn kernel(declarations: &str, body: &str, (ctas, threads): (u32, u32)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n{declarations}\n\
         .reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p];\nmov.u32 %r2, %ctaid.x;\n\
         mov.u32 %r3, %ntid.x;\nmov.u32 %r1, %tid.x;\nmad.lo.u32 %r1, %r2, %r3, %r1;\n\
         mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd2, %rd1, %rd2;\n{body}\nret;\n}}\n"
    );
    std::fs::write(folder.path().join("k.ptx"), text).expect("written");
    let launch = format!(
        "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [{ctas}]\nblock = [{threads}]\narg = [{{ buffer = \"out\" }}]\n\
         [[buffer]]\nname = \"out\"\ntype = \"u32\"\ncount = 64\nsave = {{ file = \"out.bin\", format = \"raw\" }}\n"
    );
    std::fs::write(folder.path().join("k.toml"), launch).expect("written");
    folder
}

/// Runs the launch file of such a folder. Returns exit code, standard error and the saved words.
fn launch(folder: &tempfile::TempDir, words: &[&str]) -> (Option<i32>, String, Vec<u32>) {
    let saved = folder.path().join("out.bin");
    let _ = std::fs::remove_file(&saved);
    let output = selvedge_in(folder.path(), &[&["run", "k.toml"], words].concat());
    let bytes = std::fs::read(&saved).unwrap_or_default();
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    (output.status.code(), String::from_utf8(output.stderr).expect("text"), words)
}

#[test]
fn an_endless_kernel_ends_by_its_timeout() {
    // A loop that counts is not a livelock.
    let folder = kernel("", "LOOP: add.u64 %rd3, %rd3, 1;\nbra LOOP;", (1, 32));
    let output = selvedge_in(folder.path(), &["run", "k.toml", "--functional", "--timeout", "1s"]);
    let (table, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(table.contains("timeout") && error.contains("--timeout has passed"), "{table}{error}");
}

#[test]
fn a_livelock_ends_a_functional_run_and_is_named() {
    let (code, table, error) = run(&["tests/data/forever.toml", "--functional"]);
    assert_eq!((code, error.lines().count()), (Some(3), 1), "{error}");
    assert!(table.contains("fail"), "{table}");
    let named = "warp instructions: CTA 0,0,0 warp 0 repeats PTX lines 12 to 14";
    assert!(error.contains("kernel 'wait': livelock after ") && error.contains(named), "{error}");
    // Before Volta, the lanes without the lock spin, and the lane with the lock waits for them to reconverge.
    let lock = "WAIT: atom.global.cas.b32 %r4, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra WAIT;\n\
        ld.volatile.global.u32 %r5, [%rd1+4];\nadd.u32 %r5, %r5, 1;\nst.volatile.global.u32 [%rd1+4], %r5;\n\
        membar.gl;\natom.global.exch.b32 %r6, [%rd1], 0;";
    let folder = kernel("", lock, (1, 32));
    let (code, error, out) = launch(&folder, &["--functional"]);
    assert_eq!((code, error.as_str(), &out[..2]), (Some(0), "", &[0, 32][..]));
    let file = folder.path().join("k.ptx");
    let text = std::fs::read_to_string(&file).expect("written").replace("sm_90", "sm_60");
    std::fs::write(&file, text).expect("written");
    let (code, error, _) = launch(&folder, &["--functional"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("livelock after ") && error.contains("repeats PTX lines 16 to 18"), "{error}");
}

#[test]
fn ctas_and_warps_that_wait_for_later_ones_end_with_the_same_values() {
    // CTA 0 waits for a store of CTA 1.
    let ctas = "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra SET;\nWAIT: ld.volatile.global.u32 %r4, [%rd1+252];\n\
        setp.eq.u32 %p2, %r4, 0;\n@%p2 bra WAIT;\nst.global.u32 [%rd2], %r4;\nbra END;\n\
        SET: st.volatile.global.u32 [%rd1+252], 9;\nEND:";
    // The first warp waits for a store of the second.
    let warps = ctas.replace("setp.ne.u32 %p1, %r2, 0", "setp.ge.u32 %p1, %r1, 32");
    for (body, dims) in [(ctas, (2, 32)), (&warps, (1, 64))] {
        let folder = kernel("", body, dims);
        for words in [&["--functional"][..], &[]] {
            let (code, error, out) = launch(&folder, words);
            assert_eq!((code, error.as_str()), (Some(0), ""), "{words:?}");
            let wanted: Vec<u32> = (0..64).map(|at| if at < 32 || at == 63 { 9 } else { 0 }).collect();
            assert_eq!(out, wanted, "{words:?}");
        }
    }
}

#[test]
fn a_shuffle_of_idle_lanes_saves_0_and_a_check_names_the_line() {
    let body = "setp.ge.u32 %p1, %r1, 8;\nadd.u32 %r4, %r1, 1000;\nmov.u32 %r5, 77;\n@%p1 bra END;\n\
        shfl.sync.down.b32 %r5, %r4, 16, 31, 0xff;\nEND: st.global.u32 [%rd2], %r5;";
    let folder = kernel("", body, (1, 32));
    let wanted: Vec<u32> = (0..64).map(|at| if (8..32).contains(&at) { 77 } else { 0 }).collect();
    let says = "k.ptx:20: kernel 'k', block (0,0,0), thread (0,0,0): `shfl.sync.down.b32 %r5, %r4, 16, 31, 0xff` reads lane 16, \
                which does not execute it, and gets 0";
    for words in [&["--functional"][..], &[]] {
        assert_eq!(launch(&folder, words), (Some(0), String::new(), wanted.clone()), "{words:?}");
        let (code, error, out) = launch(&folder, &[words, &["--check"]].concat());
        assert_eq!((code, out), (Some(0), wanted.clone()), "{error}");
        assert!(error.lines().count() == 1 && error.contains("warning: ") && error.contains(says), "{error}");
    }
}

#[test]
fn local_memory_beyond_the_most_is_refused_in_a_line() {
    let (declaration, body) =
        (".local .align 8 .b8 x[1000000];", "mov.u64 %rd3, x;\nst.local.u32 [%rd3], 1;");
    let folder = kernel(declaration, body, (1, 32));
    for words in [&["--functional"][..], &[]] {
        let (code, error, _) = launch(&folder, &[words, &["--max-memory", "1MiB"]].concat());
        assert_eq!((code, error.lines().count()), (Some(2), 1), "{words:?}: {error}");
        let says = "kernel 'k' cannot be launched: 1 warps at the same time take 32000000 bytes of local memory, 1048320 of 1048576 \
                    bytes of device memory are left (--max-memory)";
        assert!(error.contains(says), "{words:?}: {error}");
        let (code, error, _) = launch(&folder, &[words, &["--max-memory", "40MiB"]].concat());
        assert_eq!(code, Some(0), "{words:?}: {error}");
    }
}

#[test]
fn what_needs_timing_is_refused_in_a_line() {
    let refused = [
        (
            &["bfs", "--functional", "--mechanism", "bgp"][..],
            "'--functional' cannot be used with '--mechanism",
        ),
        (&["bfs", "--functional", "--series", "-"], "'--functional' cannot be used with '--series"),
        (&["bfs", "--functional", "--max-cycles", "9"], "'--functional' cannot be used with '--max-cycles"),
        (&["bfs", "--functional", "--resume", "bfs.ckpt"], "'--functional' cannot be used with '--resume"),
        (&["bfs+atax", "--functional"], "--functional bfs+atax: must be one workload or launch file"),
        (&["tests/traces/kernelslist.g", "--functional"], "must be a workload or a launch file"),
        (&["bfs", "--intervals", "9", "--resume", "bfs.ckpt"], "cannot be used with '--resume"),
        (&["bfs", "--intervals", "9", "--max-cycles", "9"], "cannot be used with '--max-cycles"),
        (
            &["bfs", "--intervals", "9", "--mechanism", "caba-memo"],
            "--intervals: caba-memo: must be a mechanism that skips no instructions",
        ),
        (&["bfs", "--intervals", "0"], "invalid value '0' for '--intervals <N>'"),
        (&["bfs", "--jobs", "2"], "--intervals <N>"),
        (&["bfs+atax", "--intervals", "9"], "--intervals: bfs+atax: must be one workload or launch file"),
        (&["tests/traces/kernelslist.g", "--intervals", "9"], "must be a workload or a launch file"),
    ];
    for (words, line) in refused {
        let (code, output, error) = run(words);
        assert_eq!((code, output.as_str(), error.lines().count()), (Some(2), "", 1), "{words:?}: {error}");
        assert!(error.contains(line), "{words:?}: {error}");
    }
}

#[test]
fn a_run_by_intervals_says_what_it_estimates() {
    let (code, table, error) = run(&["conv2d", "--size", "small", "--intervals", "3", "--engine", "model"]);
    assert_eq!(code, Some(0), "{error}");
    let line = table.lines().last().unwrap_or_default();
    assert!(line.starts_with("estimated: conv2d base: ") && line.contains("with 95% confidence"), "{line}");
    let (code, table, error) = run(&["bfs", "--intervals", "3"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(table.contains("estimated: bfs base: "), "{table}");
}

#[test]
fn a_fault_ends_a_run_by_intervals_with_the_line_of_a_full_run() {
    let folder = kernel("", "mov.u64 %rd3, 7;\nst.global.u32 [%rd3], 1;", (1, 32));
    let full = launch(&folder, &[]);
    assert_eq!((full.0, full.1.lines().count()), (Some(3), 1), "{full:?}");
    for jobs in ["1", "3"] {
        assert_eq!(launch(&folder, &["--intervals", "2", "--jobs", jobs]), full);
    }
}

#[test]
fn only_the_chosen_launches_are_simulated_and_the_results_are_right() {
    let whole = report(&["atax"]);
    let launches = whole["kernels"].as_array().expect("launches");
    assert_eq!(launches.len(), 2);
    let first = report(&["atax", "--launch", "1"]);
    assert_eq!(first["kernels"], serde_json::json!([launches[0]]));
    assert_eq!((&first["result"], &first["launches"]["last"]), (&"pass".into(), &1.into()));
    let second = report(&["atax", "--launch", "2"]);
    let only = &second["kernels"].as_array().expect("launches")[..];
    assert_eq!((only.len(), &only[0]["name"]), (1, &launches[1]["name"]));
    assert_eq!(only[0]["warp_instructions"], launches[1]["warp_instructions"]);
    assert_eq!(second["totals"]["cycles"], only[0]["cycles"], "the first launch takes no cycles");
    assert_eq!(second["result"], "pass", "the first launch has left its values");
    let both = report(&["atax", "--launch", "1..2"]);
    assert_eq!((&both["kernels"], &both["totals"]), (&whole["kernels"], &whole["totals"]));
}

#[test]
fn a_search_and_a_mechanism_with_memory_run_on_a_chosen_launch() {
    for mechanism in ["kernel-opt", "swl-best", "mdb-local", "hw-bdi", "caba-bdi", "latte-cc"] {
        let second = report(&["mvt", "--launch", "2", "--mechanism", mechanism, "--engine", "model"]);
        assert_eq!(
            (&second["result"], second["kernels"].as_array().map(Vec::len)),
            (&"pass".into(), Some(1))
        );
    }
}

#[test]
fn one_launch_of_a_list_of_traces_has_its_own_counters() {
    let whole = report(&["tests/traces/kernelslist.g"]);
    let launches = whole["kernels"].as_array().expect("launches");
    assert!(launches.len() > 1, "{}", launches.len());
    let first = report(&["tests/traces/kernelslist.g", "--launch", "1"]);
    assert_eq!(first["kernels"], serde_json::json!([launches[0]]));
    let last = launches.len().to_string();
    let of_last = report(&["tests/traces/kernelslist.g", "--launch", &last]);
    assert_eq!(of_last["kernels"][0]["name"], launches[launches.len() - 1]["name"]);
}

#[test]
fn a_launch_that_there_is_not_is_one_line() {
    for (words, says) in [
        (&["atax", "--launch", "3"][..], "--launch 3: must be 1 to 2, the launches of the run"),
        (&["tests/traces/kernelslist.g", "--launch", "2..3"], "--launch 2..3: must be 1 to 2, the launches"),
        (&["atax", "--launch", "0"], "must be the number of a launch from 1 on"),
        (&["atax", "--launch", "2..1"], "must be the number of a launch from 1 on"),
        (&["atax", "--launch", "1", "--functional"], "cannot be used with"),
        (&["atax", "--launch", "1", "--intervals", "2"], "cannot be used with"),
        (&["atax", "--launch", "1", "--check"], "cannot be used with"),
        (&["atax+bfs", "--launch", "1"], "--launch: atax+bfs: must be one workload or launch file"),
        (&["atax", "--launch", "1", "--checkpoint", "a.ckpt"], "must be given without --launch"),
    ] {
        let (code, _, error) = run(words);
        assert_eq!((code, error.lines().count()), (Some(2), 1), "{words:?}: {error}");
        assert!(error.contains(says), "{words:?}: {error}");
    }
}
