//! Tests the assertions of blocks. They must hold while Icarus Verilog runs the stimulus, and a planted fault must violate
//! one. The scripts written next to them must prove them.
use selvedge_blocks::{built_in, find};
use selvedge_gen::{EmitOptions, Language, ResetStyle, emit};
use selvedge_testbenches::emitted::{Emitted, VerilogFile};
use selvedge_testbenches::parallel;
use selvedge_testbenches::properties;
use selvedge_testbenches::properties::Reach;
use selvedge_testbenches::pyosys::Pyosys;
use selvedge_testbenches::skipped::is_long;
use selvedge_testbenches::testbench::{self, Testbench};
use selvedge_testbenches::tool::{ABC, IVERILOG, VERILATOR, VVP, YOSYS};
use std::collections::HashSet;
use std::mem::discriminant;
use std::path::Path;

const CYCLES: usize = 5_000;

fn emitted(name: &str, reset: ResetStyle, language: Language) -> Emitted {
    let block = find(name).unwrap();
    let options = EmitOptions { reset, language, ..EmitOptions::default() };
    Emitted::with_properties(block, &block.defaults(), &options).unwrap()
}

/// Returns the output of the testbench and the assertions in Icarus Verilog.
fn simulate(bench: &Testbench, block: &Emitted, folder: &Path) -> String {
    std::fs::write(folder.join(bench.verilog_file()), &bench.verilog).unwrap();
    std::fs::write(folder.join(bench.vectors_file()), &bench.vectors).unwrap();
    let mut words: Vec<String> = ["-g2005", "-o", "program", "-s"].map(String::from).to_vec();
    words.extend([bench.module(), bench.verilog_file()]);
    words.extend(block.write(folder).unwrap().iter().map(|file| file.display().to_string()));
    assert_eq!(IVERILOG.run(folder, words).unwrap(), "");
    let output = VVP.output(folder, ["-N", "program"]).unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn blocks_violate_no_property_with_any_reset() {
    let resets = [ResetStyle::Control, ResetStyle::SyncHigh, ResetStyle::None];
    let numbered: Vec<_> = properties::BLOCKS.into_iter().enumerate().collect();
    parallel::each(&numbered, |(number, name)| {
        let block = find(name).unwrap();
        // Each block has one of the styles, and in the long run all of them.
        let number = number % resets.len();
        let resets = if is_long() { &resets[..] } else { &resets[number..=number] };
        for reset in resets.iter().copied() {
            let bench = testbench::write(block, &block.defaults(), CYCLES as u64, 1, reset).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let said = simulate(&bench, &emitted(name, reset, Language::Verilog), folder.path());
            assert_eq!(said.trim_end(), format!("PASS {CYCLES} vectors"), "{name} {reset}");
        }
    });
}

#[test]
fn a_planted_fault_violates_a_property_in_simulation() {
    for (name, correct, fault, violated) in [
        (
            "milg",
            "sum = 8'd0;",
            "sum = 8'd1;",
            "milg: violated: the count in flight is that of issues and completions",
        ),
        (
            "qbmi",
            "quota_q[j*7 +: 7] > quota_q[i*7 +: 7]",
            "quota_q[j*7 +: 7] >= quota_q[i*7 +: 7]",
            "qbmi: violated: kernels rank by quota, those with equal quotas by number",
        ),
        (
            "latte_controller",
            "lookup_mode_q <= decision_mode;",
            "lookup_mode_q <= ~decision_mode;",
            "latte_controller: violated: the mode of a lookup is one of three",
        ),
        (
            "decompression_queue",
            "has_room = waiting_q != DEPTH;",
            "has_room = waiting_q != 4'd9;",
            "decompression_queue: violated: no more lines wait than there are places",
        ),
    ] {
        let mut faulty = emitted(name, ResetStyle::Control, Language::Verilog);
        let places: usize = faulty.sources.iter().map(|source| source.text.matches(correct).count()).sum();
        assert_eq!(places, 1, "`{correct}` in {name}");
        for VerilogFile { text, .. } in &mut faulty.sources {
            *text = text.replace(correct, fault);
        }
        let block = find(name).unwrap();
        let bench = testbench::write_stimulus(block, &block.defaults(), CYCLES, 1).unwrap();
        let said = simulate(&bench, &faulty, tempfile::tempdir().unwrap().path());
        assert!(said.contains("ERROR") && said.contains(violated), "{name}: {said}");
    }
}

#[test]
fn verilator_has_nothing_to_say_of_the_assertions_and_yosys_synthesizes_without_them() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let pyosys = Pyosys::find(&workspace, "yosys_synthesizes_without_the_assertions (pyosys)");
    let numbered: Vec<_> = properties::BLOCKS.into_iter().enumerate().collect();
    parallel::each(&numbered, |(number, name)| {
        let forms = [
            (ResetStyle::Control, Language::Verilog),
            (ResetStyle::SyncHigh, Language::Verilog),
            (ResetStyle::None, Language::Verilog),
            (ResetStyle::AsyncLow, Language::SystemVerilog),
        ];
        // Each block has one of the forms, and in the long run all of them.
        let number = number % forms.len();
        let forms = if is_long() { &forms[..] } else { &forms[number..=number] };
        for &(reset, language) in forms {
            let folder = tempfile::tempdir().unwrap();
            let files = emitted(name, reset, language).write(folder.path()).unwrap();
            let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let lint = ["--lint-only", "--assert", "-Wall", "--top-module", name].map(String::from);
            let said = VERILATOR.run(folder.path(), lint.into_iter().chain(files.clone())).unwrap();
            assert_eq!(said, "", "{name} {reset}");
            let read =
                if language == Language::SystemVerilog { "-sv " } else { "" }.to_owned() + &files.join(" ");
            let script = format!(
                "read_verilog {read}; hierarchy -check -top {name}; select -assert-none t:*_properties"
            );
            match (language, &pyosys) {
                (Language::Verilog, _) => YOSYS.run(folder.path(), ["-q", "-p", &script]).unwrap(),
                (Language::SystemVerilog, Some(pyosys)) => pyosys.run(folder.path(), &script).unwrap(),
                (Language::SystemVerilog, None) => continue,
            };
        }
    });
}

#[test]
fn the_scripts_prove_the_properties() {
    // these take a minute each
    const SLOW: [&str; 4] = ["cpack_compressor", "cpack_decompressor", "sc_compressor", "sc_decompressor"];
    let mut kinds = HashSet::new();
    for name in properties::BLOCKS.into_iter().filter(|name| !SLOW.contains(name)) {
        let block = find(name).unwrap();
        // the smallest lines, where a block has them
        let small = [("line_bytes".to_string(), "32".to_string())];
        let params = block.params(&small).unwrap_or_else(|_| block.defaults());
        let of_block = properties::of(name, &params).unwrap();
        // tests/formal.rs proves the same claims, C-PACK's in the long run. One block of each kind of proof is enough, except in the long run.
        if !kinds.insert(discriminant(&of_block.reach)) && !is_long() {
            continue;
        }
        let reset = ResetStyle::default();
        let ports = block.ports(&params).unwrap();
        let mut design = emit(&*block.elaborate(&params).unwrap(), name, &EmitOptions::default()).unwrap();
        properties::attach(&mut design, &of_block, &ports, reset);
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        design.modules.iter().for_each(|module| write(&module.file(), &module.text));
        let files = properties::proof(&design, &of_block, &ports, reset);
        files.iter().for_each(|(name, text)| write(name, text));
        YOSYS.run(folder.path(), ["-q", "-s", &format!("{name}_proof.ys")]).unwrap();
        let said = ABC.run(folder.path(), ["-f", &format!("{name}_proof.abc")]).unwrap();
        let proofs = match of_block.reach {
            Reach::Induction { .. } => 2,
            Reach::Each { claims, lemmas } => 1 + (claims + lemmas) as usize,
            _ => 1,
        };
        assert_eq!(said.matches("Status = 1").count(), proofs, "{name}: {said}");
        assert_eq!(said.matches("Status = ").count(), proofs, "{name}: {said}");
    }
}

#[test]
fn the_list_of_blocks_with_properties_is_whole() {
    let with = built_in().iter().filter(|block| properties::of(block.name(), &block.defaults()).is_some());
    let mut names: Vec<&str> = with.map(|block| block.name()).collect();
    names.sort_unstable();
    assert_eq!(names, properties::BLOCKS);
}
