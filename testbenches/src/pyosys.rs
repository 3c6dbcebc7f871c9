//! Runs the Yosys of PyPI's pyosys, which reads packed arrays and casts to enumerations. Debian 12's Yosys 0.23 does not.
use crate::skipped::skip;
use crate::tool::ToolError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Python program that runs the commands of its argument.
const DRIVER: &str = "\
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.argv[1].split('; '):
    libyosys.run_pass(command, design)
";

/// Python program that proves each module of a design equal to the module of the same name in another. Its arguments are the
/// name of the top module and the commands that read the designs. `expose` turns the pins of instances into ports of the module.
const PROVER: &str = "\
import sys
from pyosys import libyosys
design = libyosys.Design()
def run(commands):
    for command in commands.split('; '):
        libyosys.run_pass(command, design)
names = []
for own, read in zip(['gold', 'gate'], sys.argv[2:]):
    run(f'{read}; hierarchy -check -top {sys.argv[1]}; proc; async2sync; opt_clean; memory_collect; expose -evert c:* t:$mem* %d')
    names.append(sorted(str(module.name) for module in design.modules_.values()))
    run(f'design -stash {own}')
if names[0] != names[1]:
    sys.exit(f'the modules differ: {names}')
for name in names[0]:
    run(f'design -copy-from gold -as gold {name}; design -copy-from gate -as gate {name}; equiv_make gold gate equiv')
    run('hierarchy -top equiv; opt -share_all; equiv_struct; equiv_simple; equiv_status -assert; design -reset')
";

/// The Python of the tests' environment, in which `tests/run` installs pyosys.
#[derive(Clone, Debug)]
pub struct Pyosys(PathBuf);

impl Pyosys {
    /// Returns the installed pyosys. If it is absent, skips `test`.
    pub fn find(workspace: &Path, test: &str) -> Option<Pyosys> {
        let python = workspace.join("target/python/bin/python3");
        let asked = Command::new(&python).args(["-c", "import pyosys.libyosys"]).output();
        if asked.is_ok_and(|output| output.status.success()) {
            return Some(Pyosys(python));
        }
        skip(test, "pyosys is not installed in target/python");
        None
    }

    /// Runs commands, which `; ` separates, in `folder`. Returns the warnings.
    ///
    /// # Errors
    /// [`ToolError::Io`] if Python cannot be started, and [`ToolError::Failed`] if a command fails.
    pub fn run(&self, folder: &Path, script: &str) -> Result<String, ToolError> {
        self.python(folder, &[DRIVER, script])
    }

    /// Proves that the design of the top module `top` that the command `gate` reads is that of the command `gold`. Registers
    /// and instances correspond by name.
    ///
    /// # Errors
    /// The same as [`Self::run`]; a module that may differ is a failure.
    pub fn prove_equal(&self, folder: &Path, top: &str, gold: &str, gate: &str) -> Result<(), ToolError> {
        self.python(folder, &[PROVER, top, gold, gate]).map(|_| ())
    }

    /// Runs a program with arguments. Returns the warnings.
    fn python(&self, folder: &Path, words: &[&str]) -> Result<String, ToolError> {
        let output = Command::new(&self.0).arg("-c").args(words).current_dir(folder).output();
        let output = output.map_err(ToolError::at(&self.0))?;
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let said = said.concat();
        if !output.status.success() {
            let tail: Vec<&str> = said.lines().rev().take(20).collect();
            let message = tail.into_iter().rev().collect::<Vec<_>>().join("\n");
            return Err(ToolError::Failed { program: "pyosys", message });
        }
        Ok(said.lines().filter(|line| line.starts_with("Warning")).collect::<Vec<_>>().join("\n"))
    }
}
