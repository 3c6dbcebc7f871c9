//! Every mistake must give one clear line and exit code 2, and never a panic.

use crate::command::selvedge_in;
use std::path::Path;

/// Runs the command in a new folder with these files. Returns exit code and standard error.
fn fails(files: &[(&str, &str)], words: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("the file is written");
    }
    let output = selvedge_in(folder.path(), words);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(error.trim_end().lines().count(), 1, "one line, not:\n{error}");
    assert!(!error.contains("panicked"), "{error}");
    assert!(output.stdout.is_empty(), "nothing else is printed");
    (output.status.code().unwrap_or(-1), error)
}

fn usage(words: &[&str], says: &str) {
    usage_with(&[], words, says);
}

fn usage_with(files: &[(&str, &str)], words: &[&str], says: &str) {
    let (code, error) = fails(files, words);
    assert_eq!(code, 2, "{error}");
    assert!(error.contains(says), "`{error}` should say `{says}`");
}

#[test]
fn an_unknown_workload_names_those_there_are() {
    usage(&["run", "vecad"], "vecadd");
}

#[test]
fn an_unknown_size_names_those_there_are() {
    usage(&["run", "vecadd", "--size", "huge"], "tiny");
}

#[test]
fn an_unknown_mechanism_names_those_there_are() {
    usage(&["run", "vecadd", "--mechanism", "hw-bdy"], "hw-bdi");
}

#[test]
fn a_mechanism_option_out_of_range_names_the_range() {
    usage(&["run", "vecadd", "--mechanism", "hw-bdi,compress=77"], "1 to 5");
}

#[test]
fn an_unknown_engine_names_those_there_are() {
    usage(&["run", "vecadd", "--engine", "fpga"], "lockstep");
}

#[test]
fn an_unknown_probe_names_the_instances() {
    let run = ["run", "vecadd", "--mechanism", "hw-bdi", "--vcd", "x.vcd", "--probe"];
    let (_, error) = fails(&[], &[&run[..], &["sm0.decomp"]].concat());
    assert!(
        error.contains("nearest sm0.decompressor") && error.contains("--list-probes` prints all"),
        "{error}"
    );
    assert!(error.len() < 250, "not all instances: {error}");
}

#[test]
fn an_unknown_block_names_the_nearest() {
    usage(&["gen", "bdi"], "bdi_compressor");
    usage(&["wave", "bdi", "-o", "x.vcd"], "bdi_compressor");
    usage(&["wave", "milg", "-o", "x.ghw"], "cannot write x.ghw: must end in .vcd or .fst");
    let run = ["run", "vecadd", "--mechanism", "dmil", "--probe", "sm0.milg"];
    usage(&[&run[..], &["--vcd", "x.vzt"]].concat(), "cannot write x.vzt: must end in .vcd or .fst");
    let inside = ["--vcd", "x.vcd", "--inside", "--engine", "model"];
    usage(&[&run[..], &inside].concat(), "--inside: the engine must be rtl, lockstep or rtl+verilog");
}

#[test]
fn a_block_parameter_out_of_range_names_the_range() {
    usage(&["gen", "bdi_compressor", "--param", "line_bytes=77"], "line_bytes");
    usage(&["gen", "bdi_compressor", "--param", "depth"], "depth");
    usage(&["gen", "bdi_compressor", "--param", "colour=3"], "colour");
    usage(&["gen", "aws", "--memories", "sram"], "list, blackbox, wrapper");
    usage(&["gen", "aws", "--memories", "wrapper", "--self-contained"], "--self-contained");
}

#[test]
fn an_unknown_option_is_one_line() {
    usage(&["run", "--frobnicate"], "--frobnicate");
    usage(&["frobnicate"], "frobnicate");
}

#[test]
fn suggestions_are_similar_and_sources_lead_to_their_command() {
    for words in [&["version"][..], &["run", "nosuch"], &["gen", "nope"], &["list", "mechanisms", "nope"]] {
        let (code, error) = fails(&[], words);
        let has_similar = ["vecadd", "bicg", "bgp", "base"].iter().any(|name| error.contains(name));
        assert!(code == 2 && !has_similar, "{error}");
    }
    usage(&["version"], "nearest `selvedge --version`");
    usage(&["explain", "l1d"], "nearest `selvedge stats explain`, `selvedge config explain`");
    usage(&["mechanism"], "nearest `selvedge list mechanisms`");
    usage(&["bsf"], "nearest `selvedge bfs`");
    for command in ["run", "compare", "trace"] {
        let words: Vec<&str> = match command {
            "run" => vec!["run", "my.cu"],
            "compare" => vec!["compare", "my.cu", "--mechanisms", "base"],
            _ => vec!["trace", "record", "my.cu", "-o", "my.strace"],
        };
        usage(&words, "'my.cu' is no workload: `selvedge new --cuda my.cu -o my.toml` writes a launch file");
        usage(&words, "`selvedge cuda -- PROGRAM`");
    }
    usage(&["my.ptx"], "`selvedge new --ptx my.ptx -o my.toml`");
}

#[test]
fn tips_are_part_of_no_sentence_and_hidden_names_are_not_offered() {
    let (_, error) = fails(&[], &["compare", "bfs", "--mechanism", "base"]);
    assert!(error.contains("unexpected argument '--mechanism' found: nearest '--mechanisms'"), "{error}");
    let (_, error) = fails(&[], &["list", "mechanism"]);
    assert!(error.contains("unrecognized subcommand 'mechanism': nearest 'mechanisms'"), "{error}");
    for words in [&["run", "bfs", "--verbose"][..], &["compare", "bfs", "--frobnicate"], &["list", "machine"]]
    {
        let (_, error) = fails(&[], words);
        assert!(!error.contains("tip") && !error.contains("machines") && !error.contains("-- --"), "{error}");
    }
    usage(&["run", "bfs", "--size", "huge"], "'--size <SIZE>': must be one of tiny, small, study, paper");
    usage(&["run", "bfs", "--vcd", "x.vcd"], "`--list-probes`");
}

#[test]
fn a_missing_option_is_named_as_the_user_writes_it() {
    let swl = "option 'limit': must be given as 1 to 24, the warps of a scheduler, as in swl,limit=4";
    usage(&["run", "bfs", "--mechanism", "swl"], swl);
}

#[test]
fn names_have_the_same_quotes_in_all_messages() {
    for (words, quoted) in [
        (&["run", "nosuch"][..], "unknown workload 'nosuch'"),
        (&["run", "bfs", "--mechanism", "nope"], "unknown mechanism 'nope'"),
        (&["gen", "nope"], "unknown block 'nope'"),
        (&["run", "bfs", "--config", "nope"], "configuration 'nope'"),
        (&["config", "explain", "nope"], "configuration key 'nope'"),
        (&["stats", "explain", "nope"], "no statistic 'nope'"),
        (&["run", "bfs+atax", "--share", "nope"], "share 'nope'"),
        (&["gen", "milg", "--param", "nope=1"], "unknown parameter 'nope'"),
    ] {
        usage(words, quoted);
    }
}

#[test]
fn an_unwritable_output_is_noticed_before_the_run() {
    usage_with(&[("file", "")], &["run", "vecadd", "--json", "file/report.json"], "file/report.json");
    usage_with(&[("file", "")], &["gen", "milg", "-o", "file"], "file");
    usage_with(&[("file", "")], &["wave", "milg", "-o", "file/milg.vcd"], "file/milg.vcd");
}

#[test]
fn a_configuration_that_is_not_there() {
    usage(&["run", "vecadd", "--config", "nowhere.toml"], "nowhere.toml");
}

#[test]
fn a_configuration_with_zero_ways_names_its_line() {
    let text = "base = \"gtx480\"\n[l1d]\nways = 0\n";
    usage_with(&[("my.toml", text)], &["run", "vecadd", "--config", "my.toml"], "my.toml:3: l1d.ways = 0");
}

#[test]
fn a_configuration_with_an_unknown_key_names_its_line() {
    let text = "base = \"gtx480\"\n[l1d]\nwayz = 4\n";
    usage_with(
        &[("my.toml", text)],
        &["run", "vecadd", "--config", "my.toml"],
        "my.toml:3: unknown field `wayz`",
    );
}

#[test]
fn a_configuration_that_is_binary() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("my.toml"), [0u8, 159, 146, 150]).expect("the file is written");
    let output = selvedge_in(Path::new(folder.path()), &["run", "vecadd", "--config", "my.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("my.toml"));
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_refused() {
    usage(&["run", "vecadd", "--config", "/dev/zero"], "more than 1048576 bytes: must be at most 1048576");
    usage(&["config", "check", "/dev/zero"], "must be at most 1048576");
    usage(&["config", "import", "/dev/zero"], "must be at most 1048576");
}

#[test]
fn a_planted_fault_beyond_a_blocks_outputs_names_the_bits_there_are() {
    let run = ["run", "vecadd", "--mechanism", "hw-bdi", "--engine", "lockstep", "--inject"];
    let says = "--inject sm0.decompressor:900:5000: must be a bit from 0 to 1026";
    usage(&[&run[..], &["sm0.decompressor:900:5000"]].concat(), says);
    usage(&[&run[..], &["sm0.decompressor:900:-1"]].concat(), "must be INSTANCE:CYCLE:BIT");
    usage(&[&run[..], &["sm0.decompresor:900:1"]].concat(), "sm0.decompressor");
}

/// Returns PTX of one kernel `k` with a pointer parameter and this body.
fn ptx(body: &str) -> String {
    format!(
        ".version 4.3\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\nld.param.u64 %rd1, [p];\n{body}\nret;\n}}\n"
    )
}

const LAUNCH: &str = "ptx = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [64]\n\
                      [[arg]]\ntype = \"u32\"\ncount = 64\n";

#[test]
fn a_users_own_kernel_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("k.ptx"), ptx("st.global.u32 [%rd1], 1;"))
        .expect("the file is written");
    std::fs::write(folder.path().join("my.toml"), LAUNCH).expect("the file is written");
    let output = selvedge_in(folder.path(), &["run", "my.toml"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).trim_end().ends_with("unchecked"), "it expects nothing");
    let checked = format!("{LAUNCH}expect = {{ file = \"ones.txt\" }}\n");
    std::fs::write(folder.path().join("my.toml"), checked).expect("the file is written");
    let ones = format!("1\n{}", "0\n".repeat(63));
    std::fs::write(folder.path().join("ones.txt"), ones).expect("the file is written");
    let output = selvedge_in(folder.path(), &["run", "my.toml", "--json", "-"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["result"], "pass", "{}", String::from_utf8_lossy(&output.stderr));
}

fn run_ptx(text: &str) -> (i32, String) {
    fails(&[("k.ptx", text), ("my.toml", LAUNCH)], &["run", "my.toml"])
}

#[test]
fn a_kernel_that_reads_outside_its_buffers_is_a_simulation_fault() {
    let (code, error) = run_ptx(&ptx("ld.global.u32 %r1, [%rd1+4096];"));
    assert_eq!(code, 3, "{error}");
    assert!(
        error.contains("k.ptx:9") && error.contains("arg0") && error.contains("thread (0,0,0)"),
        "{error}"
    );
}

#[test]
fn a_barrier_that_never_completes_is_a_simulation_fault() {
    let (code, error) = run_ptx(&ptx("bar.sync 1, 96;"));
    assert_eq!(code, 3, "{error}");
    assert!(error.contains("deadlock") && error.contains("barrier 1"), "{error}");
}

#[test]
fn an_unsupported_instruction_is_refused_with_its_line() {
    let (code, error) = run_ptx(&ptx("tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4}, [t, {%r1,%r2}];"));
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("k.ptx:9") && error.contains("tex.2d.v4.f32.f32"), "{error}");
}

#[test]
fn truncated_ptx_is_refused() {
    let whole = ptx("add.s32 %r1, %r1, 1;");
    for length in [0, 20, 60, whole.len() - 8, whole.len() - 3] {
        let (code, error) = run_ptx(&whole[..length]);
        assert_eq!(code, 2, "cut at {length}: {error}");
        assert!(error.contains("k.ptx") || error.contains("no kernel"), "cut at {length}: {error}");
    }
}

#[test]
fn binary_ptx_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("my.toml"), LAUNCH).expect("the file is written");
    std::fs::write(folder.path().join("k.ptx"), [b'.', b'\n', 0xff, 0xfe]).expect("the file is written");
    let output = selvedge_in(folder.path(), &["run", "my.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("k.ptx:2: not text"));
}

#[test]
fn huge_ptx_is_refused_without_reading_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("my.toml"), LAUNCH).expect("the file is written");
    let file = std::fs::File::create(folder.path().join("k.ptx")).expect("the file is made");
    file.set_len(1 << 40).expect("a sparse file");
    let output = selvedge_in(folder.path(), &["run", "my.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("must be at most"));
}

#[test]
fn a_launch_that_does_not_fit_says_what_does() {
    let cases = [
        (LAUNCH.replace("[64]", "[4096]"), "my.toml:2: kernel 'k'"),
        (LAUNCH.replace("[64]", "[0]"), "must be"),
        (LAUNCH.replace("grid = [1]", "grid = [1, 2, 3, 4]"), "my.toml:3: grid"),
        (LAUNCH.replace("grid = [1]", "grid = [2147483648, 2147483648, 4]"), "must be 1 to"),
        (LAUNCH.replace("\"k\"", "\"j\""), "my.toml:2: no kernel 'j' in the PTX: there are k"),
        (LAUNCH.replace("count = 64", "count = 0"), "my.toml:7"),
        (LAUNCH.replace("count = 64", "length = 64"), "unknown field `length`"),
        (format!("{LAUNCH}[[arg]]\ntype = \"u32\"\nvalue = 1\n"), "its parameters are p (address"),
        (LAUNCH.replace("k.ptx", "none.ptx"), "none.ptx"),
    ];
    for (launch, says) in cases {
        usage_with(&[("k.ptx", &ptx("")), ("my.toml", &launch)], &["run", "my.toml"], says);
    }
}
