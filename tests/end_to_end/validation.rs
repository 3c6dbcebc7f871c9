//! docs/reference/validation.md shows the current cycles of the configurations, and the latencies of docs/reference/fidelity.md.
use crate::command::selvedge_in;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A kernel of the comparison that needs no random numbers.
struct Kernel {
    name: &'static str,
    ctas: u64,
    /// Returns the instructions of warp `n` of `total` after its first three.
    rows: fn(n: u64, total: u64, isa: u32) -> Vec<String>,
}

const KERNELS: [Kernel; 3] = [
    Kernel { name: "read", ctas: 480, rows: read },
    Kernel { name: "l2", ctas: 240, rows: l2 },
    Kernel { name: "chain", ctas: 480, rows: chain },
];

const WARPS: u64 = 8;
const ARRAY: u64 = 0x7f10_0000_0000;

/// Returns an instruction without addresses.
fn plain(opcode: &str, dest: &str, sources: &[&str]) -> String {
    let dests = if dest.is_empty() { "0".into() } else { format!("1 {dest}") };
    let sources: String = sources.iter().map(|source| format!(" {source}")).collect();
    format!("ffffffff {dests} {opcode} {}{sources} 0 ", sources.split_whitespace().count())
}

/// Returns a load of consecutive words at `address`.
fn load(dest: &str, address: u64, isa: u32) -> String {
    let opcode = if isa == 35 { "LD.E" } else { "LDG.E.SYS" };
    format!("ffffffff 1 {dest} {opcode} 1 R4 4 1 0x{address:x} 4 ")
}

fn read(n: u64, total: u64, isa: u32) -> Vec<String> {
    let pair = |k: u64| {
        let dest = format!("R{}", 10 + k);
        [load(&dest, ARRAY + (k * total + n) * 128, isa), plain("FADD", "R8", &["R8", &dest])]
    };
    (0..8).flat_map(pair).collect()
}

fn l2(n: u64, _: u64, isa: u32) -> Vec<String> {
    let pair = |k: u64| {
        let line = (n * 37 + k * 131) % 2048;
        [load("R10", ARRAY + line * 128, isa), plain("FADD", "R8", &["R8", "R10"])]
    };
    (0..16).flat_map(pair).collect()
}

fn chain(_: u64, _: u64, isa: u32) -> Vec<String> {
    let integer = if isa == 35 { "IADD" } else { "IADD3" };
    (0..64).map(|k| plain(if k % 2 == 1 { "FADD" } else { integer }, "R8", &["R8", "R1"])).collect()
}

/// Returns the kernel as a trace in Accel-Sim's format.
fn trace(kernel: &Kernel, isa: u32) -> String {
    let mut text = format!(
        "-kernel name = {}\n-kernel id = 1\n-grid dim = ({},1,1)\n-block dim = ({},1,1)\n-shmem = 0\n-nregs = 32\n\
         -binary version = {isa}\n-cuda stream id = 0\n-shmem base_addr = 0x00007f4000000000\n\
         -local mem base_addr = 0x00007f4200000000\n-nvbit version = 1.5.5\n-accelsim tracer version = 4\n\
         -enable lineinfo = 0\n\n#traces format = as of version 4\n\n",
        kernel.name,
        kernel.ctas,
        WARPS * 32
    );
    let integer = if isa == 35 { "IADD" } else { "IADD3" };
    for cta in 0..kernel.ctas {
        let _ = write!(text, "#BEGIN_TB\n\nthread block = {cta},0,0\n\n");
        for warp in 0..WARPS {
            let mut rows =
                vec![plain("MOV", "R1", &[]), plain("S2R", "R0", &[]), plain(integer, "R4", &["R0", "R1"])];
            rows.extend((kernel.rows)(cta * WARPS + warp, kernel.ctas * WARPS, isa));
            rows.push(plain("EXIT", "", &[]));
            let _ = write!(text, "warp = {warp}\ninsts = {}\n", rows.len());
            for (at, row) in rows.iter().enumerate() {
                let _ = writeln!(text, "{:04x} {row}", 16 * at);
            }
            text.push('\n');
        }
        text += "#END_TB\n\n";
    }
    text
}

/// Returns the cycles of a configuration for the trace in `folder`.
fn cycles(folder: &Path, machine: &str) -> String {
    let output = selvedge_in(folder, &["run", "kernelslist.g", "--config", machine, "--stats", "stats.txt"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let stats = fs::read_to_string(folder.join("stats.txt")).expect("the statistics are written");
    let line = stats.lines().find_map(|line| line.strip_prefix("gpu_sim_cycle = "));
    line.expect("cycles are among them").into()
}

/// Returns the cells of the table rows in a section of the page.
fn rows(page: &str, section: &str) -> Vec<Vec<String>> {
    let from = page.find(section).expect("the page has the section");
    let end = page[from + section.len()..].find("\n## ").map_or(page.len(), |at| from + section.len() + at);
    let rows = page[from..end].lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").map(str::to_owned).collect()).collect()
}

/// Writes the configuration that `config import` translates from SM2_GTX480.
fn import(folder: &Path) {
    let table = fs::read_to_string("tests/data/gpgpusim-4.2.tsv").expect("the table is there");
    let (mut options, mut network) = (String::new(), String::new());
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        match (cells[0].strip_prefix("icnt:"), cells[1]) {
            (_, "-") => {}
            (Some(name), value) => network += &format!("{name} = {value};\n"),
            (None, value) => options += &format!("{} {value}\n", cells[0]),
        }
    }
    fs::write(folder.join("my.config"), options).expect("the file is written");
    fs::write(folder.join("my.icnt"), network).expect("the file is written");
    let words = ["config", "import", "my.config", "--icnt", "my.icnt", "-o", "sm2.toml"];
    assert!(selvedge_in(folder, &words).status.success());
}

#[test]
fn the_page_shows_the_cycles_of_kernels_without_random_numbers() {
    let page = fs::read_to_string("docs/reference/validation.md").expect("the page is there");
    let tables = rows(&page, "## Cycles");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    import(folder);
    let plain = "base = \"gtx480-3.2.2\"\nname = \"plain\"\n[l1d]\nindex = \"bmod\"\n";
    fs::write(folder.join("plain.toml"), plain).expect("the file is written");
    fs::write(folder.join("kernelslist.g"), "kernel-1.traceg\n").expect("the file is written");
    for (isa, machines) in [(35, ["plain.toml", "sm2.toml"]), (70, ["titan-v", "rtx3070"])] {
        for kernel in &KERNELS {
            fs::write(folder.join("kernel-1.traceg"), trace(kernel, isa)).expect("the file is written");
            let columns = if isa == 35 { 7 } else { 8 };
            let row = tables.iter().find(|row| row[0] == kernel.name && row.len() == columns);
            let row = row.expect("the table has a row for the kernel");
            for (machine, column) in machines.into_iter().zip([2, 5]) {
                let shown = row[column].replace(',', "");
                assert_eq!(cycles(folder, machine), shown, "{} on {machine}", kernel.name);
            }
        }
    }
}

/// Atomic instructions of a trace.
const ATOMICS: u64 = 120;

/// Address of the first word that the atomics access.
const WORDS: u64 = 0x7f00_0000_0000;

/// Returns the trace of one warp that executes atomics in a loop of six instructions.
fn atomics(kind: &str) -> String {
    let mut rows = vec!["0000 ffffffff 1 R4 MOV 0 0 ".to_owned()];
    for n in 0..ATOMICS {
        let words = format!("4 1 0x{:x} 4 ", WORDS + n % 16 * 256);
        let rest = match kind {
            "atomchain" => format!("1 R4 ATOM.E.ADD 2 R4 R6 {words}"),
            "redstream" => format!("0 RED.E.ADD 2 R4 R6 {words}"),
            _ => format!("0 RED.E.ADD 2 R4 R6 4 1 0x{WORDS:x} 0 "),
        };
        rows.push(format!("{:04x} ffffffff {rest}", 16 * (1 + (n + 1) % 6)));
    }
    rows.push(format!("{:04x} ffffffff 0 EXIT 0 0 ", 16 * (1 + (ATOMICS + 1) % 6)));
    format!(
        "-kernel name = {kind}\n-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 0\n-nregs = 12\n\
         -binary version = 35\n-cuda stream id = 0\n-shmem base_addr = 0x00007f4000000000\n\
         -local mem base_addr = 0x00007f4200000000\n-nvbit version = 1.5.5\n-accelsim tracer version = 4\n\
         -enable lineinfo = 0\n\n#traces format = as of version 4\n\n#BEGIN_TB\n\nthread block = 0,0,0\n\n\
         warp = 0\ninsts = {}\n{}\n\n#END_TB\n\n",
        rows.len(),
        rows.join("\n")
    )
}

#[test]
fn the_page_shows_the_cycles_of_atomics() {
    let page = fs::read_to_string("docs/reference/validation.md").expect("the page is there");
    let tables = rows(&page, "## Programs");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    import(folder);
    fs::write(folder.join("kernelslist.g"), "kernel-1.traceg\n").expect("the file is written");
    for kind in ["atomchain", "atomsame", "redstream"] {
        fs::write(folder.join("kernel-1.traceg"), atomics(kind)).expect("the file is written");
        let row = tables.iter().find(|row| row[0] == kind).expect("the table has a row for the trace");
        assert_eq!(cycles(folder, "sm2.toml"), row[3].replace(',', ""), "{kind}");
    }
}

#[test]
fn latencies_beside_published_ones_are_those_that_are_measured() {
    let page = fs::read_to_string("docs/reference/validation.md").expect("the page is there");
    let fidelity = fs::read_to_string("docs/reference/fidelity.md").expect("the page is there");
    let mut compared = 0;
    for row in rows(&page, "## Published measurements") {
        let [what, _, _, _, machine, here] = &row[..] else { continue };
        let name = match what.as_str() {
            "dependent arithmetic" => "integer addition",
            "global memory" => "DRAM read, other row open",
            "shared memory" => "shared memory, 1-way conflict",
            "L1D hit" => "L1D hit",
            "L2 hit" => "L2 hit, round trip",
            _ => continue,
        };
        let measured = rows(&fidelity, &format!("\n## {machine}\n"));
        let measured = measured.iter().find(|row| row[0] == name).expect("it is measured");
        let shown = here.split(' ').next().unwrap_or_default();
        assert_eq!(measured[3], shown, "{what} on {machine}");
        compared += 1;
    }
    assert_eq!(compared, 12);
}
