//! Gate of planted faults: inserts every fault of the catalog into a copy of the source, and checks that its tests
//! fail.
//!
//! ```text
//! cargo run --example planted_faults              all faults
//! cargo run --example planted_faults -- NAME...   the faults whose name or file contains one of these
//! ```

mod catalog;
mod program;
mod tree;

use catalog::{Fault, How};
use program::{Name, Outcome, Tests};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tree::Tree;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let faults = catalog::read(root);
    let names: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen = |fault: &Fault| {
        names.is_empty() || names.iter().any(|name| fault.id.contains(name) || fault.file.contains(name))
    };
    let chosen: Vec<usize> = (0..faults.len()).filter(|number| is_chosen(&faults[*number])).collect();
    if chosen.is_empty() {
        eprintln!("planted_faults: no fault is named like {}", names.join(" or "));
        return ExitCode::from(2);
    }
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let mut gate = Gate {
        faults: &faults,
        packages: catalog::packages(root),
        tree: Tree::new(root, folder.join("faults/tree")),
        target: folder.join("faults/target"),
        killed: 0,
        alive: Vec::new(),
    };
    if let Err(line) = gate.run(&chosen) {
        eprintln!("planted_faults: {line}");
        return ExitCode::FAILURE;
    }
    gate.alive.iter().for_each(|line| println!("{line}"));
    println!("{} planted faults: {} killed, {} survived", chosen.len(), gate.killed, gate.alive.len());
    if gate.alive.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Folder of the kit, which all blocks use.
const KIT: &str = "hw/kit";

/// Folder of the only block that contains other blocks, and the folder of these blocks.
const ASSIST_CONTROLLER: (&str, &str) = ("hw/caba/src/awc", "hw/caba/src/");

/// Faults, their copy of the source, and the results.
struct Gate<'a> {
    faults: &'a [Fault],
    /// Folder of each package.
    packages: HashMap<String, String>,
    tree: Tree<'a>,
    target: PathBuf,
    killed: usize,
    /// A line for each fault on which no test failed.
    alive: Vec<String>,
}

impl<'a> Gate<'a> {
    /// Runs the chosen faults: first the switched ones with one build, then the patches in rounds.
    fn run(&mut self, chosen: &[usize]) -> Result<(), String> {
        let faults = self.faults;
        let programs = self.build(chosen, &[])?;
        self.demand_passes(chosen, &programs)?;
        let (switched, patched): (Vec<usize>, Vec<usize>) =
            chosen.iter().partition(|number| faults[**number].how == How::Switch);
        for number in switched {
            self.judge(number, &programs);
        }
        for round in rounds(faults, &patched) {
            let programs = self.build(&round, &round)?;
            for number in round {
                self.judge(number, &programs);
            }
        }
        Ok(())
    }

    /// Builds the test programs of the chosen faults, with these patches.
    fn build(&self, chosen: &[usize], patches: &[usize]) -> Result<HashMap<Name<'a>, PathBuf>, String> {
        self.tree.plant(self.faults, patches).map_err(|error| error.to_string())?;
        let programs: BTreeSet<Name> =
            chosen.iter().map(|number| self.faults[*number].tests().program).collect();
        program::build(&self.tree.folder, &self.target, &programs.into_iter().collect::<Vec<_>>())
    }

    /// Checks that tests exist for every fault, and that they pass without a fault.
    fn demand_passes(&self, chosen: &[usize], programs: &HashMap<Name, PathBuf>) -> Result<(), String> {
        let tests: BTreeSet<Tests> = chosen.iter().map(|number| self.faults[*number].tests()).collect();
        for tests in tests {
            let outcome = self.outcome(&tests, programs, None);
            let is_sound = outcome.broken.is_none() && outcome.failed.is_empty() && outcome.passed > 0;
            if !is_sound {
                let (passed, failed) = (outcome.passed, outcome.failed.join(", "));
                let broken = outcome.broken.unwrap_or_default();
                return Err(format!("without a fault {tests:?}: {passed} pass, failed: {failed} {broken}"));
            }
        }
        Ok(())
    }

    /// Runs the tests of one fault and records the outcome.
    fn judge(&mut self, number: usize, programs: &HashMap<Name, PathBuf>) {
        let fault = &self.faults[number];
        let outcome = self.outcome(&fault.tests(), programs, Some(&fault.id));
        let line = line_of(fault, &outcome);
        println!("{line}");
        if outcome.broken.is_none() && !outcome.failed.is_empty() {
            self.killed += 1;
        } else {
            self.alive.push(line);
        }
    }

    fn outcome(&self, tests: &Tests, programs: &HashMap<Name, PathBuf>, fault: Option<&str>) -> Outcome {
        program::run(&programs[&tests.program], &self.folder_of(tests.program), tests, fault)
    }

    /// Returns the folder in which cargo would run the tests of a package.
    fn folder_of(&self, (package, _): Name) -> PathBuf {
        self.tree.folder.join(&self.packages[package])
    }
}

impl Fault {
    fn tests(&self) -> Tests<'_> {
        let names = self.test.iter().map(String::as_str).collect();
        Tests { program: (&self.package, &self.target), block: self.block.as_deref(), names }
    }

    /// Returns whether tests of this fault may also fail because of the patch `other`.
    fn is_disturbed_by(&self, other: &Fault) -> bool {
        let (own, others) = (&self.folder, &other.folder);
        let (controller, parts) = ASSIST_CONTROLLER;
        Path::new(own).starts_with(others) || others == KIT || own == controller && others.starts_with(parts)
    }
}

/// Returns the report line of a fault: its outcome, the failing test, and the seconds.
fn line_of(fault: &Fault, outcome: &Outcome) -> String {
    let seconds = outcome.time.as_secs_f64();
    let verdict = match (&outcome.broken, outcome.failed.first()) {
        (Some(broken), _) => format!("SURVIVED  {}: {broken}", fault.id),
        (None, Some(test)) => format!("killed    {} by {test}", fault.id),
        (None, None) => {
            format!("SURVIVED  {}: {} tests pass. {}", fault.id, outcome.passed, fault.what)
        }
    };
    format!("{verdict} ({seconds:.1} s)")
}

/// Distributes patches over few rounds. No patch of a round disturbs the tests of another in it.
fn rounds(faults: &[Fault], patches: &[usize]) -> Vec<Vec<usize>> {
    let disturb =
        |a: usize, b: usize| faults[a].is_disturbed_by(&faults[b]) || faults[b].is_disturbed_by(&faults[a]);
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for &number in patches {
        match rounds.iter_mut().find(|round| !round.iter().any(|other| disturb(number, *other))) {
            Some(round) => round.push(number),
            None => rounds.push(vec![number]),
        }
    }
    rounds
}
