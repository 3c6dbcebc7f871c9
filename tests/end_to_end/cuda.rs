//! Unmodified CUDA programs: they compute the right results, their records give the same reports, and wrong programs
//! end with one line.
//!
//! clang and nvcc compile the programs in `tests/cuda/` with the toolkits that `docs/cuda/toolkit` installs.
use crate::command::selvedge_in;
use selvedge_testbenches::skipped::skip;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Programs that check their own results. A second source follows a space.
const PROGRAMS: [&str; 26] = [
    "constants",
    "converge",
    "device_new",
    "errors",
    "frontier",
    "histogram",
    "host_memory",
    "host_threads",
    "managed",
    "matrix",
    "overlap",
    "pieces",
    "pitched",
    "pointers",
    "printing",
    "queries",
    "recursion",
    "reduction",
    "scan",
    "sorting",
    "streams",
    "structures",
    "templates",
    "texture_objects",
    "texture_references",
    "units_a units_b",
];

/// Returns a toolkit, or `None` after a note that `test` is skipped.
pub fn toolkit(test: &str, name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/cuda").join(name);
    if folder.join("bin/fatbinary").is_file() {
        return Some(folder);
    }
    skip(test, "no toolkit: docs/cuda/toolkit target/cuda makes one");
    None
}

pub fn demand(output: &Output, what: &str) {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{what}: {}: {out}{error}", output.status);
}

/// Compiles the sources of a program with clang into `folder`, and returns the program's name.
fn compile<'a>(toolkit: &Path, sources: &'a str, folder: &Path) -> &'a str {
    let name = sources.split(' ').next().unwrap_or(sources);
    let mut command = Command::new("clang++-19");
    command.args(["-x", "cuda", "--cuda-gpu-arch=sm_60", "-O1", "-w", "-pthread"]);
    command.arg(format!("--cuda-path={}", toolkit.display()));
    command.args(sources.split(' ').map(|source| format!("tests/cuda/{source}.cu")));
    command.arg("-L").arg(toolkit.join("lib")).arg("-lcudart").arg("-o").arg(folder.join(name));
    demand(&command.output().expect("clang starts"), sources);
    name
}

/// Returns the report of a run without values that depend on the host.
pub fn report(folder: &Path, file: &str) -> Value {
    let text = fs::read_to_string(folder.join(file)).expect("the report is there");
    let mut report: Value = serde_json::from_str(&text).expect("the report is JSON");
    report.as_object_mut().expect("an object").remove("host");
    report
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Programs of [`PROGRAMS`] that make failing calls on purpose.
const WITH_ERRORS: [&str; 5] = ["clusters", "cooperative", "errors", "host_threads", "queries"];

/// Checks for exit code 0, or 3 for a program that makes failing calls.
fn demand_of(output: &Output, name: &str, what: &str) {
    if !WITH_ERRORS.contains(&name) {
        return demand(output, what);
    }
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{what}: {error}");
    assert!(error.contains("the simulator has refused"), "{what}: {error}");
}

/// Runs a program under a mechanism, then its record, and compares the reports.
fn check(folder: &Path, name: &str, mechanism: &str) {
    check_on(folder, name, mechanism, "gtx480");
}

/// Checks as [`check`] does, on a configuration.
fn check_on(folder: &Path, name: &str, mechanism: &str, config: &str) {
    let program = format!("./{name}");
    let [json, again, record] = ["json", "again", "sprog"].map(|end| format!("{name}-{mechanism}.{end}"));
    let words = [
        "cuda",
        "--config",
        config,
        "--mechanism",
        mechanism,
        "--engine",
        "model",
        "--json",
        &json,
        "--record",
        &record,
        "--",
        &program,
    ];
    demand_of(&selvedge_in(folder, &words), name, &format!("{name} {mechanism}"));
    let words =
        ["run", &record, "--config", config, "--mechanism", mechanism, "--engine", "model", "--json", &again];
    demand_of(&selvedge_in(folder, &words), name, &format!("the record of {name}"));
    let found = report(folder, &json);
    let result = if WITH_ERRORS.contains(&name) { "incomplete" } else { "unchecked" };
    assert_eq!(found["result"], result, "{name}");
    assert!(found["totals"]["cycles"].as_u64().is_some_and(|cycles| cycles > 100), "{name}");
    // The message omits the reports, which are long.
    assert!(found == report(folder, &again), "{name} {mechanism}: the record's report is another");
}

#[test]
fn programs_compute_the_right_results_and_their_records_give_the_same_reports() {
    let test = "programs_compute_the_right_results_and_their_records_give_the_same_reports";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let left = Mutex::new(PROGRAMS.to_vec());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(sources) = left.lock().expect("no thread has failed").pop() else { return };
                    let name = compile(&toolkit, sources, folder.path());
                    ["base", "hw-bdi"]
                        .into_iter()
                        .for_each(|mechanism| check(folder.path(), name, mechanism));
                }
            });
        }
    });
}

/// Compiles a program with nvcc, and checks it. clang does not support `__managed__` and parts of cooperative groups.
fn check_with_nvcc(test: &str, name: &str) {
    check_for(test, name, "compute_75");
}

/// Checks as [`check_with_nvcc`] does, for a virtual architecture.
fn check_for(test: &str, name: &str, arch: &str) {
    check_for_on(test, name, arch, "gtx480");
}

/// Checks as [`check_for`] does, on a configuration.
fn check_for_on(test: &str, name: &str, arch: &str, config: &str) {
    let Some(toolkit) = toolkit(test, "cuda13") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.args(["-cudart", "shared", "-std=c++17", "-gencode", &format!("arch={arch},code={arch}")]);
    command.arg(format!("tests/cuda/{name}.cu")).arg("-o").arg(folder.path().join(name));
    demand(&command.output().expect("nvcc starts"), name);
    ["base", "hw-bdi"].into_iter().for_each(|mechanism| check_on(folder.path(), name, mechanism, config));
}

#[test]
fn managed_variables_have_one_value_on_both_sides() {
    check_with_nvcc("managed_variables_have_one_value_on_both_sides", "managed_variables");
}

#[test]
fn the_blocks_of_a_cooperative_launch_wait_for_each_other() {
    check_with_nvcc("the_blocks_of_a_cooperative_launch_wait_for_each_other", "cooperative");
}

#[test]
fn barriers_and_pipelines_of_libcu_work_on_ampere_and_hopper() {
    let test = "barriers_and_pipelines_of_libcu_work_on_ampere_and_hopper";
    // Before Hopper, waits spin, and threads copy. On Hopper, waits are suspended, and bulk copies are used.
    ["compute_80", "compute_90"].into_iter().for_each(|arch| check_for(test, "barriers", arch));
}

#[test]
fn copies_of_boxes_of_a_tensor_agree_with_the_matrix() {
    check_for("copies_of_boxes_of_a_tensor_agree_with_the_matrix", "tensors", "compute_90");
}

#[test]
fn products_of_warp_groups_agree_with_those_of_integers() {
    check_for("products_of_warp_groups_agree_with_those_of_integers", "warp_groups", "compute_90a");
}

#[test]
fn the_blocks_of_a_cluster_share_their_memory_and_a_barrier() {
    let test = "the_blocks_of_a_cluster_share_their_memory_and_a_barrier";
    check_for_on(test, "clusters", "compute_90", "h100");
}

#[test]
fn layers_faces_and_surfaces_are_read_and_written() {
    check_with_nvcc("layers_faces_and_surfaces_are_read_and_written", "layers");
}

#[test]
fn graphs_run_their_work_in_the_order_of_their_dependencies() {
    check_with_nvcc("graphs_run_their_work_in_the_order_of_their_dependencies", "graphs");
}

/// The program has no device code, so that any compiler builds it.
#[test]
fn launchers_load_the_driver_library_and_ptx_at_run_time() {
    let test = "launchers_load_the_driver_library_and_ptx_at_run_time";
    let Some(toolkit) = toolkit(test, "cuda13") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "tests/cuda/driver.cpp", "-ldl", "-I"]).arg(toolkit.join("include"));
    demand(&command.arg("-o").arg(folder.path().join("driver")).output().expect("c++ starts"), "driver");
    ["base", "hw-bdi"].into_iter().for_each(|mechanism| check(folder.path(), "driver", mechanism));
}

#[test]
fn what_kernels_print_comes_among_what_the_host_prints() {
    let Some(toolkit) = toolkit("what_kernels_print_comes_among_what_the_host_prints", "cuda11") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    compile(&toolkit, "printing", folder.path());
    let output =
        selvedge_in(folder.path(), &["cuda", "--config", "gtx480", "--json", "-", "--", "./printing"]);
    demand(&output, "printing");
    let lines: String = (0..3)
        .map(|i| format!("host {i}\nkernel {i}, thread 3, number {:.2}\n", f64::from(i) / 4.0))
        .collect();
    assert_eq!(text(&output.stderr), lines, "with --json - it goes to standard error");
    assert!(
        serde_json::from_slice::<Value>(&output.stdout).is_ok(),
        "the report alone is on standard output"
    );
}

#[test]
fn the_second_execution_agrees_and_no_timing_gives_the_same_results() {
    let test = "the_second_execution_agrees_and_no_timing_gives_the_same_results";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    for sources in ["managed", "histogram", "texture_objects", "units_a units_b"] {
        let program = format!("./{}", compile(&toolkit, sources, folder.path()));
        for option in ["--verify-functional", "--functional", "--check"] {
            demand(
                &selvedge_in(folder.path(), &["cuda", option, "--", &program]),
                &format!("{sources} {option}"),
            );
        }
    }
}

#[test]
fn a_program_by_intervals_has_the_report_of_its_record_for_any_number_of_jobs() {
    let test = "a_program_by_intervals_has_the_report_of_its_record_for_any_number_of_jobs";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // Both programs simulate three of four equal launches. A launch of `many_blocks` has a beginning, two intervals and three ends.
    // `streams` simulates its launches whole, and launches another kernel once.
    for (sources, intervals) in [("many_blocks", 3 * (1 + 2 + 3)), ("streams", 3 + 1)] {
        let program = format!("./{}", compile(&toolkit, sources, folder.path()));
        let program = [&program, "one stream"];
        for mechanism in ["base", "mdb-local"] {
            let options =
                ["--config", "gtx480", "--set", "sm.count=2", "--mechanism", mechanism, "--engine", "model"];
            let run = |words: &[&str]| {
                let output = selvedge_in(folder.path(), words);
                demand(&output, &format!("{sources} {mechanism} {words:?}"));
                text(&output.stdout)
            };
            run(&[&["cuda"], &options[..], &["--record", "full.sprog", "--"], &program].concat());
            let record = ["--intervals", "2", "--json", "record.json"];
            run(&[&["run", "full.sprog"], &options[..], &record].concat());
            let mut printed = Vec::new();
            for jobs in ["1", "4"] {
                let part = ["--intervals", "2", "--jobs", jobs, "--json", "part.json"];
                let live = ["--record", "part.sprog", "--"];
                printed.push(run(&[&["cuda"], &options[..], &part, &live, &program].concat()));
                let read = |file: &str| fs::read(folder.path().join(file)).expect("it is there");
                assert!(read("full.sprog") == read("part.sprog"), "{sources}: the records differ");
                let found = report(folder.path(), "part.json");
                assert!(found == report(folder.path(), "record.json"), "{sources} {mechanism}: {found}");
                assert_eq!(found["estimate"]["intervals"], intervals, "{sources}");
            }
            assert_eq!(printed[0], printed[1], "{sources}: what the program has measured");
        }
    }
}

#[test]
fn launches_of_different_streams_overlap_and_a_record_gives_the_same_report() {
    let test = "launches_of_different_streams_overlap_and_a_record_gives_the_same_report";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = format!("./{}", compile(&toolkit, "overlap", folder.path()));
    // The program itself checks the times.
    for mechanism in ["base", "latte-cc", "caba-bdi"] {
        let options = ["--config", "gtx480", "--mechanism", mechanism, "--check", "--json"];
        let live = [&["cuda"], &options[..], &["live.json", "--record", "a.sprog", "--", &program]].concat();
        demand(&selvedge_in(folder.path(), &live), mechanism);
        let record = [&["run", "a.sprog"], &options[..], &["record.json"]].concat();
        demand(&selvedge_in(folder.path(), &record), mechanism);
        let live = report(folder.path(), "live.json");
        assert!(live == report(folder.path(), "record.json"), "{mechanism}: the record's report is another");
        let mut most = 0;
        for entry in live["kernels"].as_array().expect("launches") {
            let Some(launches) = entry.get("overlapping") else { continue };
            let launches = launches.as_array().expect("launches");
            let sum =
                |key: &str| launches.iter().map(|one| one[key].as_u64().expect("a number")).sum::<u64>();
            for key in ["warp_instructions", "thread_instructions"] {
                assert_eq!(sum(key), entry[key], "{mechanism}: {entry}");
            }
            let cycle = |launch: &Value, key: &str| launch[key].as_u64().expect("a number");
            let (first, last) = (&launches[0], launches.iter().map(|one| cycle(one, "end_cycle")).max());
            let taken = last.expect("several") - cycle(first, "start_cycle");
            assert!(taken <= entry["cycles"].as_u64().expect("a number"), "{mechanism}: {entry}");
            most = most.max(launches.iter().filter(|one| one["start_cycle"] == first["start_cycle"]).count());
        }
        assert_eq!(most, 16, "sm.concurrent_launches");
    }
}

#[test]
fn streams_that_would_overlap_are_simulated_in_order_with_a_warning_or_refused() {
    let test = "streams_that_would_overlap_are_simulated_in_order_with_a_warning_or_refused";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = format!("./{}", compile(&toolkit, "overlap", folder.path()));
    let run = |words: &[&str]| {
        let output = selvedge_in(folder.path(), words);
        (output.status.code(), text(&output.stderr), text(&output.stdout))
    };
    let cuda = |options: &[&str], words: &[&str]| {
        run(&[&["cuda", "--config", "gtx480"], options, &["--", &program], words].concat())
    };
    for option in ["--functional", "--verify-functional"] {
        assert_eq!(cuda(&[option], &["values"]).0, Some(0), "{option}");
    }
    let (code, error, _) = cuda(&["--intervals", "2"], &["values"]);
    assert_eq!(code, Some(2), "{error}");
    let line = "--intervals: launches overlap: must be a run without --intervals";
    assert!(error.contains(line), "{error}");
    assert_eq!(cuda(&["--record", "a.sprog"], &["values"]).0, Some(0));
    let (code, error, _) = run(&["run", "a.sprog", "--config", "gtx480", "--launch", "1..3"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(error.contains("launches that could overlap run one after another"), "{error}");
    let (code, _, out) = cuda(&[], &["refused", "calls"]);
    assert_eq!(code, Some(3), "{out}");
    for call in
        ["cudaStreamSynchronize: cudaErrorInvalidResourceHandle", "cudaLaunchKernel: ", "cudaMemcpyAsync: "]
    {
        assert!(out.contains(call), "{call}: {out}");
    }
}

#[test]
fn events_measure_the_estimated_cycles_of_a_program_by_intervals() {
    let test = "events_measure_the_estimated_cycles_of_a_program_by_intervals";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    compile(&toolkit, "many_blocks", folder.path());
    // The fourth of four equal launches is not simulated.
    let words = ["cuda", "--config", "gtx480", "--intervals", "2", "--json", "a.json", "--", "./many_blocks"];
    let output = selvedge_in(folder.path(), &words);
    demand(&output, "many_blocks");
    let out = text(&output.stdout);
    let measured: Vec<f64> = out.lines().filter_map(|line| line.strip_suffix(" ns")?.parse().ok()).collect();
    let report = report(folder.path(), "a.json");
    let cycles: Vec<f64> = report["kernels"]
        .as_array()
        .expect("launches")
        .iter()
        .map(|launch| launch["cycles"].as_f64().expect("a number"))
        .collect();
    assert_eq!((measured.len(), cycles.len()), (4, 4), "{out}");
    for (nanoseconds, cycles) in measured.iter().zip(&cycles) {
        // The core clock is 1400 MHz. Events have the precision of a float.
        let wanted = cycles / 1.4;
        assert!((nanoseconds - wanted).abs() < 2.0, "{nanoseconds} ns, {wanted} ns in the report");
    }
}

#[test]
fn a_program_with_a_target_is_repeated_from_its_record() {
    let test = "a_program_with_a_target_is_repeated_from_its_record";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    compile(&toolkit, "many_blocks", folder.path());
    let options = ["--config", "gtx480", "--set", "sm.count=2", "--engine", "model", "--intervals", "2"];
    let within = |more: &[&str]| {
        let words = [&["cuda"], &options[..], more, &["--json", "a.json", "--", "./many_blocks"]].concat();
        let output = selvedge_in(folder.path(), &words);
        demand(&output, &format!("{more:?}"));
        assert_eq!(text(&output.stdout).matches(" ns\n").count(), 4, "the program runs once");
        let estimate = &report(folder.path(), "a.json")["estimate"];
        let number = |key: &str| estimate[key].as_f64().expect("a number");
        number("cycles_within") / number("cycles")
    };
    let target = within(&[]) / 2.0;
    let error = format!("{:.3}%", 100.0 * target);
    assert!(within(&["--error", &error]) <= target, "{error}");
    let words = [&["cuda"], &options[..], &["--error", &error, "--", "./many_blocks", "exit", "1"]].concat();
    let output = selvedge_in(folder.path(), &words);
    assert_eq!(output.status.code(), Some(1), "the program has failed: {}", text(&output.stdout));
    let output = selvedge_in(folder.path(), &["cuda", "--intervals", "2", "--error", "2", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("must be 0.01% to 100%"), "{}", text(&output.stderr));
}

#[test]
fn a_program_by_intervals_is_refused_options_that_need_every_cycle() {
    for (options, line) in [
        (&["--max-cycles", "9"][..], "cannot be used with '--max-cycles"),
        (&["--series", "a.csv"], "cannot be used with '--series"),
        (&["--check"], "cannot be used with '--check"),
        (&["--functional"], "cannot be used with '--functional"),
        (&["--mechanism", "caba-memo"], "caba-memo: must be a mechanism that skips no instructions"),
    ] {
        let words = [&["cuda", "--intervals", "2"], options, &["--", "true"]].concat();
        let output = selvedge_in(Path::new("."), &words);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {error}");
        assert!(error.lines().last().is_some_and(|last| last.contains(line)), "{options:?}: {error}");
    }
}

#[test]
fn blocks_that_wait_for_each_other_end_a_program_by_intervals() {
    let test = "blocks_that_wait_for_each_other_end_a_program_by_intervals";
    let Some(toolkit) = toolkit(test, "cuda13") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.args(["-cudart", "shared", "-std=c++17", "-gencode", "arch=compute_75,code=compute_75"]);
    command.arg("tests/cuda/cooperative.cu").arg("-o").arg(folder.path().join("cooperative"));
    demand(&command.output().expect("nvcc starts"), "cooperative");
    let output = selvedge_in(folder.path(), &["cuda", "--intervals", "2", "--", "./cooperative"]);
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(out.contains("cudaGetErrorString") || out.contains("launch timed out"), "{out}");
    assert!(error.contains("without timing, a CTA cannot wait for a later one"), "{error}");
}

#[test]
fn every_form_of_nvccs_fat_binaries_is_read_and_machine_code_alone_is_refused() {
    let test = "every_form_of_nvccs_fat_binaries_is_read_and_machine_code_alone_is_refused";
    let Some(toolkit) = toolkit(test, "cuda13") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let build = |source: &str, name: &str, words: &[&str]| {
        let mut command = Command::new(toolkit.join("bin/nvcc"));
        command.args(["-cudart", "shared", "-Wno-deprecated-gpu-targets"]).args(words);
        command.arg(format!("tests/cuda/{source}.cu")).arg("-o").arg(folder.path().join(name));
        demand(&command.output().expect("nvcc starts"), name);
    };
    let ptx = ["-gencode", "arch=compute_75,code=compute_75"];
    for mode in ["none", "speed", "size", "default"] {
        build("reduction", mode, &[&ptx[..], &["-Xfatbin", &format!("-compress-mode={mode}")]].concat());
        demand(&selvedge_in(folder.path(), &["cuda", "--", &format!("./{mode}")]), mode);
    }
    // These programs read properties in CUDA 13's layout.
    for source in ["queries", "managed"] {
        build(source, source, &ptx);
        demand_of(&selvedge_in(folder.path(), &["cuda", "--", &format!("./{source}")]), source, source);
    }
    build("reduction", "code", &["-gencode", "arch=compute_75,code=sm_75"]);
    let output = selvedge_in(folder.path(), &["cuda", "--", "./code"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("code of sm_75 and no PTX: compile it with PTX, such as nvcc -gencode"),
        "{error}"
    );
    let refuses = |name: &str, code: i32, line: &str| {
        let output = selvedge_in(folder.path(), &["cuda", "--", &format!("./{name}")]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{name}: {error}");
        assert!(error.contains(line), "{name}: {error}");
    };
    build("reduction", "static", &[&ptx[..], &["-cudart", "static"]].concat());
    refuses("static", 1, "which the static CUDA runtime needs: link the shared one (nvcc -cudart shared)");
}

/// Compiles programs with relocatable device code.
fn relocatable(toolkit: &Path, sources: &[&str], program: &Path) {
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.args(["-cudart", "shared", "-rdc=true", "-gencode", "arch=compute_75,code=compute_75"]);
    command.args(sources.iter().map(|source| format!("tests/cuda/{source}.cu")));
    command.arg("-o").arg(program);
    demand(&command.output().expect("nvcc starts"), sources[0]);
}

#[test]
fn kernels_launch_kernels_and_files_share_device_code() {
    let Some(toolkit) = toolkit("kernels_launch_kernels_and_files_share_device_code", "cuda13") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("nested");
    relocatable(&toolkit, &["nested", "nested_part"], &program);
    let run = |words: &str| selvedge_in(folder.path(), &words.split(' ').collect::<Vec<_>>());
    let timed = "--config rtx3070 --set sm.launch_latency=0";
    let words = format!("cuda {timed} --record nested.sprog --json live.json -- ./nested times");
    demand(&run(&words), &words);
    demand(&run(&format!("run nested.sprog {timed} --json record.json")), "the record");
    let (live, record) = (report(folder.path(), "live.json"), report(folder.path(), "record.json"));
    assert_eq!(live["kernels"], record["kernels"]);
    let overlapping = |report: &Value| {
        let all = report["kernels"].as_array().expect("a list").iter();
        all.filter_map(|kernel| kernel.get("overlapping")?.as_array().map(Vec::len)).max()
    };
    assert_eq!(overlapping(&live), Some(11), "five blocks and their ten launches are one entry");
    for words in ["--functional", "--mechanism caba-bdi --check --config gtx480", "--launch 3"] {
        demand(&run(&format!("cuda {words} -- ./nested")), words);
    }
    demand(&run("run nested.sprog --launch 40"), "--launch counts launches by kernels");
    // The host's calls wait for a kernel although a launch by it is refused, and a record leaves the launch out.
    for words in ["cuda --record refused.sprog -- ./nested and refused", "run refused.sprog"] {
        let output = run(words);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{words}: {error}");
        assert!(error.contains("the simulator has refused 1 launch"), "{words}: {error}");
    }
    for (words, line) in [
        (
            "run nested.sprog --intervals 3",
            "--intervals: launches overlap: must be a run without --intervals",
        ),
        (
            "run nested.sprog --checkpoint nested.ckpt --checkpoint-every 1000",
            "checkpoints: a kernel launches kernels: must be a run without checkpoints",
        ),
    ] {
        let output = run(words);
        let error = text(&output.stderr);
        assert!(error.contains(line), "{words}: {error}");
        assert_eq!(output.status.code(), Some(2), "{words}: {error}");
    }
}

#[test]
fn the_guides_example_prints_what_the_guide_shows() {
    let Some(toolkit) = toolkit("the_guides_example_prints_what_the_guide_shows", "cuda13") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let words =
        ["-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75", "tests/cuda/reduction.cu", "-o"];
    let program = folder.path().join("reduction");
    let built = Command::new(toolkit.join("bin/nvcc")).args(words).arg(&program).output();
    demand(&built.expect("nvcc starts"), "reduction");
    let output = selvedge_in(folder.path(), &["cuda", "--", "./reduction"]);
    demand(&output, "reduction");
    let guide = fs::read_to_string("docs/how-to/run-a-cuda-program.md").expect("the guide is there");
    let shown = guide.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    assert_eq!(shown, Some(&*text(&output.stdout)), "docs/how-to/run-a-cuda-program.md shows something else");
    assert_eq!(
        text(&output.stderr).lines().next(),
        Some("selvedge: --config a100: the oldest GPU for sm_75")
    );
}

#[test]
fn the_library_has_every_function_of_nvidias() {
    let test = "the_library_has_every_function_of_nvidias";
    let folder = tempfile::tempdir().expect("a folder");
    selvedge_cudart::libraries::write(folder.path()).expect("written");
    for (toolkit_name, library) in [("cuda11", "libcudart.so.11.0"), ("cuda13", "libcudart.so.13")] {
        let Some(toolkit) = toolkit(test, toolkit_name) else { return };
        let functions = |folder: &Path| {
            let output = Command::new("nm").args(["-D", "--defined-only"]).arg(folder.join(library)).output();
            let output = text(&output.expect("nm starts").stdout);
            let names =
                output.lines().filter_map(|line| line.split(' ').nth(2)).filter(|name| name.contains("cuda"));
            names.map(|name| name.replace("@@", "@")).collect::<BTreeSet<_>>()
        };
        let wanted = functions(&toolkit.join("lib"));
        assert!(wanted.len() > 390, "{library} has {} functions", wanted.len());
        let have = functions(folder.path());
        let missing: Vec<_> =
            wanted.iter().filter(|name| name.starts_with(['c', '_']) && !have.contains(*name)).collect();
        assert!(missing.is_empty(), "{library}: {missing:?}");
    }
    let Some(toolkit) = toolkit(test, "cuda13") else { return };
    let header = fs::read_to_string(toolkit.join("include/cuda.h")).expect("the header is there");
    let mut wanted = BTreeSet::new();
    for line in header.lines() {
        let name = line.split("CUDAAPI ").nth(1).and_then(|rest| rest.split('(').next()).map(str::trim);
        wanted.extend(
            name.filter(|name| line.starts_with("CUresult") && name.starts_with("cu")).map(str::to_owned),
        );
    }
    assert!(wanted.len() > 400, "cuda.h has {} functions", wanted.len());
    let output =
        Command::new("nm").args(["-D", "--defined-only"]).arg(folder.path().join("libcuda.so.1")).output();
    let output = text(&output.expect("nm starts").stdout);
    let have: BTreeSet<&str> = output.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    // The header renames a function to its newest version.
    let is_there = |name: &String| {
        have.iter()
            .any(|known| known.strip_prefix(name).is_some_and(|end| end.is_empty() || end.starts_with("_v")))
    };
    let missing: Vec<_> = wanted.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "libcuda.so.1: {missing:?}");
}

#[test]
fn a_program_and_a_launch_file_with_the_same_launches_take_the_same_cycles() {
    let test = "a_program_and_a_launch_file_with_the_same_launches_take_the_same_cycles";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    // Blocks of 256 nodes, and of 12 by 12 cells.
    for (name, size, blocks) in [("bfs", "3000", "12"), ("hotspot", "60", "5")] {
        let source = format!("overhead/{name}");
        let mut command = Command::new("clang++-19");
        command.args(["-x", "cuda", "--cuda-gpu-arch=sm_60", "-O1", "-w", "--cuda-device-only", "-S"]);
        command.arg(format!("--cuda-path={}", toolkit.display())).arg(format!("tests/cuda/{source}.cu"));
        command.arg("-o").arg(folder.path().join(format!("{name}.ptx")));
        demand(&command.output().expect("clang starts"), name);
        fs::create_dir_all(folder.path().join("overhead")).expect("a folder");
        compile(&toolkit, &source, folder.path());
        let program = format!("overhead/{name}");
        let inputs = Command::new(folder.path().join(&program))
            .args([size, "."])
            .current_dir(folder.path())
            .env("LD_LIBRARY_PATH", toolkit.join("lib"))
            .output();
        demand(&inputs.expect("the program starts"), name);
        let launches =
            fs::read_to_string(format!("tests/cuda/{source}.toml")).expect("the launch file is there");
        let launches = launches.replace("COUNT", size).replace("SIDE", size).replace("BLOCKS", blocks);
        fs::write(folder.path().join(format!("{name}.toml")), launches).expect("written");
        let program = format!("./{program}");
        demand(
            &selvedge_in(
                folder.path(),
                &["cuda", "--config", "gtx480", "--json", "a.json", "--", &program, size],
            ),
            name,
        );
        let words = ["run", &format!("{name}.toml"), "--json", "b.json"];
        demand(&selvedge_in(folder.path(), &words), name);
        let totals = ["a.json", "b.json"].map(|file| report(folder.path(), file)["totals"].clone());
        assert!(totals[0]["cycles"].as_u64().is_some_and(|cycles| cycles > 10_000), "{name}: {}", totals[0]);
        assert_eq!(totals[0], totals[1], "{name}");
    }
}

#[test]
fn an_instruction_that_is_unsupported_refuses_its_kernel_alone() {
    let test = "an_instruction_that_is_unsupported_refuses_its_kernel_alone";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    compile(&toolkit, "refused_kernel", folder.path());
    for functional in [&[][..], &["--functional"]] {
        let output =
            selvedge_in(folder.path(), &[&["cuda"], functional, &["--", "./refused_kernel"]].concat());
        demand(&output, "the kernel `bad` is not launched");
        assert!(text(&output.stdout).starts_with("217 cudaSuccess\n"), "{}", text(&output.stdout));
        let output =
            selvedge_in(folder.path(), &[&["cuda"], functional, &["--", "./refused_kernel", "bad"]].concat());
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        assert!(!out.starts_with("217 cudaSuccess\n"), "{out}");
        assert!(error.contains("bad") && error.contains("vmad"), "{error}");
    }
}

#[test]
fn a_wrong_program_gets_cudas_error_and_one_line() {
    let Some(toolkit) = toolkit("a_wrong_program_gets_cudas_error_and_one_line", "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    compile(&toolkit, "wrong", folder.path());
    let wrong = [
        (
            "bounds",
            3,
            "bounds: cudaErrorIllegalAddress\nthen: cudaErrorIllegalAddress\n",
            "outside every buffer",
        ),
        ("freed", 3, "freed: cudaErrorIllegalAddress\n", "outside every buffer"),
        (
            "threads",
            3,
            "threads: cudaErrorIllegalAddress\nthen: cudaErrorIllegalAddress\n",
            "outside every buffer",
        ),
        ("deadlock", 3, "deadlock: cudaErrorLaunchTimeout\n", "deadlock at cycle"),
        ("assertion", 3, "assertion: cudaErrorAssert\n", "fails: assertion `value == 0`"),
        ("code", 1, "", "the program ended with exit code 7"),
        ("abort", 1, "", "the program ended with signal 6"),
    ];
    for (what, code, printed, line) in wrong {
        let output = selvedge_in(folder.path(), &["cuda", "--config", "gtx480", "--", "./wrong", what]);
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{what}: {error}");
        assert!(out.starts_with(printed), "{what}: {out}");
        assert_eq!(error.lines().count(), 1, "{what}: {error}");
        assert!(error.contains(line), "{what}: {error}");
    }
}

#[test]
fn a_signal_and_a_limit_end_a_kernel_and_its_program() {
    let Some(toolkit) = toolkit("a_signal_and_a_limit_end_a_kernel_and_its_program", "cuda11") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    compile(&toolkit, "wrong", folder.path());
    let words = ["cuda", "--max-cycles", "20000", "--json", "report.json", "--", "./wrong", "long"];
    let output = selvedge_in(folder.path(), &words);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(report(folder.path(), "report.json")["result"], "max-cycles");
    let run = Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["cuda", "--", "./wrong", "long"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    std::thread::sleep(Duration::from_secs(2));
    assert!(
        Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("kill runs").success()
    );
    let output = run.wait_with_output().expect("it ends");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("interrupted at cycle"), "{error}");
    assert!(text(&output.stdout).contains("interrupted"), "it reports what it has");
}

/// Compiles the program `refused` with nvcc, which accepts unknown instructions, and returns its folder. Returns `None`
/// without a toolkit.
fn refused(test: &str, words: &[&str]) -> Option<tempfile::TempDir> {
    let toolkit = toolkit(test, "cuda13")?;
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(toolkit.join("bin/nvcc"));
    command.args(["-cudart", "shared", "-gencode", "arch=compute_75,code=compute_75"]).args(words);
    command.arg("tests/cuda/refused.cu").arg("-o").arg(folder.path().join("refused"));
    demand(&command.output().expect("nvcc starts"), "refused");
    Some(folder)
}

/// Runs `refused` with an argument, and its record. Both must end as incomplete. Returns the refused work and the
/// output.
fn incomplete(folder: &Path, what: &str) -> (Value, String) {
    let words =
        ["cuda", "--config", "gtx480", "--json", "a.json", "--record", "a.sprog", "--", "./refused", what];
    let output = selvedge_in(folder, &words);
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{what}: {out}{error}");
    assert!(out.contains("incomplete: refused: the simulator has refused"), "{what}: {out}");
    let found = report(folder, "a.json");
    assert_eq!(found["result"], "incomplete", "{what}");
    for words in [
        &["run", "a.sprog", "--json", "b.json"][..],
        &["run", "a.sprog", "--functional", "--json", "c.json"],
        &["run", "a.sprog", "--stats", "stats"],
        &["compare", "a.sprog", "--mechanisms", "base,hw-bdi"],
    ] {
        let again = selvedge_in(folder, words);
        let shown = text(&again.stdout);
        assert_eq!(again.status.code(), Some(3), "{what}: {words:?}: {shown}{}", text(&again.stderr));
        assert!(
            shown.contains("incomplete: refused: the simulator has refused"),
            "{what}: {words:?}: {shown}"
        );
    }
    assert!(found == report(folder, "b.json"), "{what}: the record's report is another");
    assert_eq!(report(folder, "c.json")["refused"], found["refused"], "{what}");
    let stats = fs::read_to_string(folder.join("stats")).expect("the statistics are there");
    assert!(stats.contains(&format!("refused_launches = {}\n", found["refused"]["launches"])), "{what}");
    (found["refused"].clone(), out)
}

#[test]
fn work_that_is_refused_makes_a_run_incomplete_and_is_listed() {
    let test = "work_that_is_refused_makes_a_run_incomplete_and_is_listed";
    let Some(folder) = refused(test, &[]) else { return };
    let folder = folder.path();
    let counts =
        |refused: &Value| ["modules", "launches", "calls"].map(|key| refused[key].as_u64().expect("a count"));

    let (launches, shown) = incomplete(folder, "launches");
    assert_eq!(counts(&launches), [0, 8, 0], "{launches}");
    assert_eq!(launches["reasons"][0]["count"], 8);
    assert!(shown.contains("a block of 2048 x 1 x 1 threads") && shown.contains("(8 times)"), "{shown}");
    assert!(shown.contains("last 217\n"), "the good launch is done: {shown}");

    let (huge, shown) = incomplete(folder, "huge");
    assert_eq!(counts(&huge), [0, 0, 4], "{huge}");
    for copy in ["2^47", "2^39", "back", "rows"] {
        assert!(shown.contains(&format!("{copy}: cudaErrorInvalidValue\n")), "{shown}");
    }
    assert!(shown.contains("last 217\n"), "{shown}");

    let (cooperative, shown) = incomplete(folder, "cooperative");
    assert_eq!(counts(&cooperative), [0, 1, 0], "{cooperative}");
    assert!(shown.contains("cooperative: cudaErrorCooperativeLaunchTooLarge\n"), "{shown}");

    let (closed, shown) = incomplete(folder, "closed");
    assert_eq!(counts(&closed), [0, 0, 1], "{closed}");
    assert!(shown.contains("closed: cudaErrorLaunchFailure\n0 bytes in the file\n"), "{shown}");

    let (child, shown) = incomplete(folder, "child");
    assert_eq!(counts(&child), [0, 0, 1], "{child}");
    assert!(shown.contains("child 0\n") && shown.contains("last 217\n"), "{shown}");

    // The only result of such a program in a study is the reason.
    selvedge_in(folder, &["cuda", "--record", "huge.sprog", "--", "./refused", "huge"]);
    fs::write(
        folder.join("s.toml"),
        "workloads = [\"huge.sprog\"]\nconfigs = [\"gtx480\"]\nmechanisms = [\"base\"]\n",
    )
    .expect("written");
    let study = selvedge_in(folder, &["study", "s.toml", "--store", "store"]);
    let said = text(&study.stdout) + &text(&study.stderr);
    assert!(!study.status.success() && said.contains("the simulator has refused 4 other calls"), "{said}");
}

#[test]
fn a_kernel_with_an_unknown_instruction_is_refused_with_its_launch() {
    let test = "a_kernel_with_an_unknown_instruction_is_refused_with_its_launch";
    let Some(folder) = refused(test, &["-DUNKNOWN"]) else { return };
    let (refused, shown) = incomplete(folder.path(), "unknown");
    let counts = ["modules", "launches", "calls"].map(|key| refused[key].as_u64());
    assert_eq!(counts, [Some(0), Some(1), Some(0)], "{refused}");
    assert!(shown.contains("unknown.u32") && shown.contains("last 217\n"), "{shown}");
    // A refused kernel that is never launched does not matter.
    let output = selvedge_in(folder.path(), &["cuda", "--", "./refused", "good"]);
    demand(&output, "good");
    let out = text(&output.stdout);
    assert!(out.contains("last 217\n") && out.trim_end().ends_with("unchecked"), "{out}");
}

#[test]
fn a_forked_child_has_no_part_in_the_programs_results() {
    let Some(folder) = refused("a_forked_child_has_no_part_in_the_programs_results", &[]) else { return };
    let output = selvedge_in(folder.path(), &["cuda", "--", "./refused", "fork"]);
    demand(&output, "fork");
    assert!(text(&output.stdout).starts_with("value 200, errors 0, child 0\n"), "{}", text(&output.stdout));
}

#[test]
fn a_child_in_the_background_keeps_nobody_waiting() {
    let Some(folder) = refused("a_child_in_the_background_keeps_nobody_waiting", &[]) else { return };
    for words in [&["./refused", "background"][..], &["sh", "-c", "./refused background; true"]] {
        let start = Instant::now();
        let output = selvedge_in(folder.path(), &[&["cuda", "--"][..], words].concat());
        demand(&output, "background");
        assert!(start.elapsed() < Duration::from_secs(30), "{words:?}: it waits for the child");
        assert!(text(&output.stdout).starts_with("last 217\n"), "{}", text(&output.stdout));
    }
}

/// Returns whether the process whose number is in a file ends. A killed process is gone only after its next time slice,
/// and nothing waits for a grandchild, so this polls for up to a minute.
fn ends(file: &Path) -> bool {
    let number = fs::read_to_string(file).expect("the program has begun");
    let stat = format!("/proc/{}/stat", number.trim());
    let runs = || {
        let stat = fs::read_to_string(&stat).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    };
    let end = Instant::now() + Duration::from_secs(60);
    while runs() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(20));
    }
    !runs()
}

#[test]
fn a_timeout_and_a_signal_end_a_program_with_all_that_it_has_started() {
    let test = "a_timeout_and_a_signal_end_a_program_with_all_that_it_has_started";
    let Some(folder) = refused(test, &[]) else { return };
    let file = folder.path().join("number");
    let program = ["sh", "-c", "./refused spin; true"];
    // On a busy machine the program may not begin before a short timeout.
    for timeout in ["2s", "60s"] {
        let output =
            selvedge_in(folder.path(), &[&["cuda", "--timeout", timeout, "--"][..], &program].concat());
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("timeout"), "{}", text(&output.stdout));
        if file.exists() {
            break;
        }
    }
    assert!(ends(&file), "the program goes on after the timeout");

    fs::remove_file(&file).expect("it was there");
    let run = Command::new(env!("CARGO_BIN_EXE_selvedge"))
        .args(["cuda", "--"])
        .args(program)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let end = Instant::now() + Duration::from_secs(60);
    while !fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
        assert!(Instant::now() < end, "the program does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let id = run.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(ends(&file), "the program goes on after the signal");

    // A program that makes calls without a pause, so that the command must check the time between calls.
    let start = Instant::now();
    let words = ["cuda", "--timeout", "1s", "--", "./refused", "calls"];
    let output = selvedge_in(folder.path(), &words);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(start.elapsed() < Duration::from_secs(30), "it has no end");
}

#[test]
fn mistakes_of_the_command_line_are_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bad.sprog"), "selvedge program 2\nnothing").expect("written");
    fs::write(folder.path().join("other.sprog"), "something else").expect("written");
    fs::write(folder.path().join("old.sprog"), "selvedge program 1\nnothing").expect("written");
    let mistakes: [(&[&str], &str); 9] = [
        (&["cuda"], "<PROGRAM>"),
        (&["cuda", "--", "./no-such-program"], "./no-such-program: there is no such program"),
        (&["cuda", "--record", "a.txt", "--", "true"], "--record a.txt: must be a name that ends in .sprog"),
        (
            &["cuda", "--mechanism", "swl-best", "--", "true"],
            "where `selvedge cuda --record FILE.sprog` has recorded",
        ),
        (&["cuda", "--", "true"], "true: it has made no call of the CUDA runtime library"),
        (&["run", "bad.sprog"], "bad.sprog: the recorded program is damaged"),
        (&["run", "other.sprog"], "other.sprog: must be a recorded program"),
        (&["run", "old.sprog"], "old.sprog: another version of selvedge has recorded it: record it again"),
        (&["run", "none.sprog"], "none.sprog: cannot read it"),
    ];
    for (words, line) in mistakes {
        let output = selvedge_in(folder.path(), words);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(line) && error.lines().count() == 1, "{words:?}: {error}");
    }
}
