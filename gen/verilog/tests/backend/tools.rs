//! Runs external programs, and reads values of ports for Verilog testbenches.

use num_bigint::BigUint;
use rust_hdl_core::prelude::{Atom, Block, Probe};
use selvedge_gen::{Design, VerilogModule};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

/// Runs a program in `directory`. If it is missing, the test fails with the name of its Debian package.
pub fn run(program: &str, package: &str, arguments: &[&str], directory: &Path) -> Output {
    match Command::new(program).args(arguments).current_dir(directory).output() {
        Ok(output) => output,
        Err(error) => panic!("cannot run `{program}` ({error}): install the Debian package `{package}`"),
    }
}

/// Runs a program that must succeed. Returns its standard output and error.
pub fn succeed(program: &str, package: &str, arguments: &[&str], directory: &Path) -> String {
    let output = run(program, package, arguments, directory);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {arguments:?} failed:\n{text}");
    text
}

/// Compiles all `.v` files of `directory` and runs module `tb`. Returns its output.
pub fn simulate(directory: &Path) -> String {
    let mut files: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".v"))
        .collect();
    files.sort();
    let mut arguments = vec!["-g2005", "-Wall", "-Wno-timescale", "-s", "tb", "-o", "tb.vvp"];
    arguments.extend(files.iter().map(String::as_str));
    let warnings = succeed("iverilog", "iverilog", &arguments, directory);
    assert_eq!(warnings, "", "Icarus has something to say");
    succeed("vvp", "iverilog", &["tb.vvp"], directory)
}

/// Compiles `tb.v` and all `.sv` files of `directory` by Verilator and runs module `tb`. Returns its output.
pub fn simulate_system_verilog(directory: &Path) -> String {
    let mut files: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".sv"))
        .collect();
    files.sort();
    files.push("tb.v".into());
    let mut arguments = vec!["--binary", "-Wno-fatal", "-Wno-lint", "--top-module", "tb", "-o", "tb"];
    arguments.extend(files.iter().map(String::as_str));
    succeed("verilator", "verilator", &arguments, directory);
    let program = directory.join("obj_dir/tb").display().to_string();
    succeed(&program, "g++", &[], directory)
}

/// Writes the modules of a design into `directory`.
pub fn write(design: &Design, directory: &Path) {
    for module in &design.modules {
        std::fs::write(directory.join(module.file()), &module.text).unwrap();
    }
}

/// Checks that Verilator's linter reports no warning.
pub fn assert_lint_silent(design: &Design) {
    let directory = tempfile::tempdir().unwrap();
    write(design, directory.path());
    let files: Vec<String> = design.modules.iter().map(VerilogModule::file).collect();
    let mut arguments = vec!["--lint-only", "-Wall", "--top-module", &design.top().name];
    arguments.extend(files.iter().map(String::as_str));
    let output = run("verilator", "verilator", &arguments, directory.path());
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(said, "", "{}:\n{}", design.top().name, design.text());
}

/// Checks that Yosys reads the design and finds neither latches nor other problems. Returns its statistics.
pub fn assert_synthesizes(design: &Design) -> String {
    let directory = tempfile::tempdir().unwrap();
    write(design, directory.path());
    let files: Vec<String> = design.modules.iter().map(VerilogModule::file).collect();
    let script = format!(
        "read_verilog -sv {}; hierarchy -check -top {}; proc; opt; check -assert; select -assert-none t:$dlatch t:$adlatch; stat",
        files.join(" "),
        design.top().name
    );
    let said = succeed("yosys", "yosys", &["-p", &script], directory.path());
    assert!(!said.contains("Warning") && !said.contains("Latch inferred"), "{said}");
    said
}

/// The value of every port of a block, by field name. An array is one number with element 0 in the low bits.
#[derive(Default)]
pub struct PortValues {
    depth: usize,
    /// `(index, bits, value)` of all elements.
    elements: BTreeMap<String, Vec<(usize, usize, BigUint)>>,
}

impl PortValues {
    pub fn of(block: &dyn Block) -> BTreeMap<String, BigUint> {
        let mut values = PortValues::default();
        block.accept("top", &mut values);
        let join = |mut elements: Vec<(usize, usize, BigUint)>| {
            elements.sort();
            elements.into_iter().rev().fold(BigUint::default(), |sum, (_, bits, value)| (sum << bits) | value)
        };
        values.elements.into_iter().map(|(name, elements)| (name, join(elements))).collect()
    }
}

impl Probe for PortValues {
    fn visit_start_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth += 1;
    }
    fn visit_end_scope(&mut self, _: &str, _: &dyn Block) {
        self.depth -= 1;
    }
    fn visit_atom(&mut self, name: &str, atom: &dyn Atom) {
        if self.depth != 1 || !atom.kind().is_parameter() {
            return;
        }
        let (name, index) = match name.split_once('$') {
            Some((name, index)) => (name, index.parse().unwrap()),
            None => (name, 0),
        };
        let literal = format!("{:x}", atom.verilog());
        let value = BigUint::parse_bytes(literal.split("'h").nth(1).unwrap().as_bytes(), 16).unwrap();
        self.elements.entry(name.to_string()).or_default().push((index, atom.bits(), value));
    }
}

/// Xorshift random numbers for all tests.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
