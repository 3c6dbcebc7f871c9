//! `selvedge doctor`: lists the optional tools and cell libraries, and the purpose of each.
use crate::error::Failure;
use crate::output::print_table;
use selvedge_area::Table;
use selvedge_area::liberty::{LIBRARIES, OSU018};
use selvedge_area::tool::{ExternalTool, IVERILOG, NEXTPNR_ECP5, NEXTPNR_ICE40, OPENSTA, YOSYS};
use std::env;
use std::path::{Path, PathBuf};

/// Programs whose version `area` checks, with their purpose.
const OF_AREA: [(ExternalTool, &str); 5] = [
    (YOSYS, "area: synthesis"),
    (OPENSTA, "area: timing and power"),
    (IVERILOG, "area --energy, testbenches"),
    (NEXTPNR_ICE40, "area --target ice40 --place"),
    (NEXTPNR_ECP5, "area --target ecp5 --place"),
];

/// Other programs: their names, purpose and source.
const OTHERS: [(&[&str], &str, &str); 7] = [
    (&["berkeley-abc"], "area: mapping to cells, for Yosys", "the Debian package `berkeley-abc`"),
    (&["cacti"], "area --sram cacti: prices of memories", "a build of your own"),
    (&["verilator"], "verify, run --engine verilog, run --verilog", "the Debian package `verilator`"),
    (&["g++"], "compiled Verilog, with Verilator", "the Debian package `g++`"),
    (&["clang++-19", "clang++"], "CUDA C++ to PTX for launch files", "the Debian package `clang-19`"),
    (&["valgrind"], "bench --instructions", "the Debian package `valgrind`"),
    (&["gtkwave", "surfer"], "waveforms of wave and run --vcd", "the Debian package `gtkwave`"),
];

/// Prints the table of tools and libraries.
pub fn run() -> Result<(), Failure> {
    let mut table = Table::new(&["tool", "installed", "what for", "where from"]);
    for (tool, serves) in &OF_AREA {
        // Show the error for a version that is too old: it names the required version.
        let installed = match tool.find() {
            Ok(found) => found.version,
            Err(selvedge_area::AreaError::Missing { .. }) => "no".into(),
            Err(error) => error.to_string(),
        };
        table.row(vec![tool.programs[0].into(), installed, (*serves).into(), tool.package.into()]);
    }
    for library in &LIBRARIES {
        let path = Path::new(library.path);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let installed = if path.is_file() { library.path } else { "no" };
        let option = if library.path == OSU018 { "area" } else { "area --liberty" };
        let serves = format!("{option}: cells of {} nm", library.nanometers);
        table.row(vec![name, installed.into(), serves, library.package.into()]);
    }
    for (programs, serves, package) in &OTHERS {
        let installed = path(programs).map_or("no".into(), |path| path.display().to_string());
        table.row(vec![programs[0].into(), installed, (*serves).into(), (*package).into()]);
    }
    print_table(&table)
}

/// Returns the path of the first of these programs that is in the search path.
fn path(programs: &[&str]) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&folders).collect();
    let mut candidates =
        programs.iter().flat_map(|program| folders.iter().map(move |folder| folder.join(program)));
    candidates.find(|path| path.is_file())
}
