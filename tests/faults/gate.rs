//! The gate of planted faults: puts every fault of the catalog into a copy of the source and demands that its tests fail.
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

/// The sources of the blocks and of what they are built of.
const SOURCES: [&str; 2] = ["hw/blocks/src/", "hw/kit/src/"];

/// Folders of the blocks' source that have a folder for each of several blocks.
const GROUPS: [&str; 2] = ["assist/", "sc/"];

/// The folder of what all blocks are built of.
const KIT: &str = "rtl";

/// The folder of the one block that contains others: those of its group.
const ASSIST_CONTROLLER: &str = "assist/awc";

/// The faults, their tree, and what was found.
struct Gate<'a> {
    faults: &'a [Fault],
    tree: Tree<'a>,
    target: PathBuf,
    killed: usize,
    /// A line for each fault that no test failed on.
    alive: Vec<String>,
}

impl<'a> Gate<'a> {
    /// Runs the chosen faults: the switched ones with one build, then the patches in rounds.
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

    /// Builds the test programs of some faults, with these patches.
    fn build(&self, chosen: &[usize], patches: &[usize]) -> Result<HashMap<Name<'a>, PathBuf>, String> {
        self.tree.plant(self.faults, patches).map_err(|error| error.to_string())?;
        let programs: BTreeSet<Name> =
            chosen.iter().map(|number| self.faults[*number].tests().program).collect();
        program::build(&self.tree.folder, &self.target, &programs.into_iter().collect::<Vec<_>>())
    }

    /// Demands that all tests that must fail on a fault pass without one, and that there are such tests.
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

    /// Runs the tests of one fault and notes what they say.
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
        self.tree.folder.join(catalog::folder_of(package))
    }
}

impl Fault {
    fn tests(&self) -> Tests<'_> {
        let names = self.test.iter().map(String::as_str).collect();
        Tests { program: (&self.package, &self.target), block: self.block.as_deref(), names }
    }

    /// Returns the folder of the fault's block in its source.
    fn block_folder(&self) -> &str {
        let path = SOURCES.iter().find_map(|source| self.file.strip_prefix(source)).unwrap_or(&self.file);
        let is_group = GROUPS.iter().any(|group| path.starts_with(group));
        let mut ends = path.match_indices('/').map(|(at, _)| at).skip(usize::from(is_group));
        &path[..ends.next().unwrap_or(path.len())]
    }

    /// Reports whether tests of this fault may fail because of another patch as well.
    fn is_disturbed_by(&self, other: &Fault) -> bool {
        let (own, others) = (self.block_folder(), other.block_folder());
        own == others || others == KIT || own == ASSIST_CONTROLLER && others.starts_with("assist/")
    }
}

/// Returns a line on a fault: what became of it, by which test, in how many seconds.
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

/// Puts patches into as few rounds as hold no two of which one disturbs the other's tests.
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
