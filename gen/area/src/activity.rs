//! Measures the activity of a netlist: the changes of its cells' pins while Icarus Verilog runs a testbench.
//!
//! Cells have no delay. A pin changes if its settled value just before the rising clock edge differs from the value one
//! clock earlier. The time of an input change within a clock has no effect, and glitches do not count. A pin of a gated clock
//! changes with each edge.
use crate::energy::RecordedActivity;
use crate::error::AreaError;
use crate::tool::Found;
use selvedge_testbenches::testbench::Testbench;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use vcd::{Command, IdCode, Parser, ScopeItem, Value};

/// Icarus Verilog.
#[derive(Clone, Copy, Debug)]
pub struct Simulator<'a> {
    /// Icarus Verilog's compiler.
    pub iverilog: &'a Found,
    /// Runs the compiled testbench.
    pub vvp: &'a Found,
}

/// Runs the testbench in `folder` with the Verilog in `files` there. Counts the changes in the flat netlist, beginning at
/// clock `from`. `pulses` are the pins of gated clocks.
///
/// # Errors
/// [`AreaError`] if the netlist does not pass its vectors, if a tool fails, or if `stop` is set.
pub fn measure(
    testbench: &Testbench,
    files: &[String],
    (from, pulses): (u64, &BTreeSet<String>),
    simulator: Simulator<'_>,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<RecordedActivity, AreaError> {
    let work = format!("{}: simulation of the netlist", testbench.block);
    let (bench, dump) = (testbench.module(), format!("{}_dump", testbench.block));
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|source| AreaError::Io { path, source })
    };
    put(&testbench.verilog_file(), &testbench.verilog)?;
    put(&testbench.vectors_file(), &testbench.vectors)?;
    let text = format!(
        "module {dump};\n  initial begin\n    $dumpfile(\"activity.vcd\");\n    $dumpvars(2, {bench}.dut);\n  end\nendmodule\n"
    );
    put(&format!("{dump}.v"), &text)?;
    let (bench_file, dump_file) = (testbench.verilog_file(), format!("{dump}.v"));
    let mut words = vec!["-g2005", "-s", &bench, "-s", &dump, "-o", "activity.vvp", &bench_file, &dump_file];
    words.extend(files.iter().map(String::as_str));
    simulator.iverilog.run(folder, &words, &work, stop)?;
    let said = simulator.vvp.run(folder, &["-N", "activity.vvp"], &work, stop)?;
    if !said.lines().any(|line| line.starts_with("PASS ")) {
        let message = said.lines().last().unwrap_or("it printed nothing").to_string();
        return Err(AreaError::NoAnswer { work, message });
    }
    let path = folder.join("activity.vcd");
    let read = File::open(&path).and_then(|file| count(BufReader::new(file), &bench, (from, pulses)));
    read.map_err(|source| AreaError::Io { path, source })
}

/// The state of one net.
#[derive(Clone, Copy, Debug, Default)]
struct Net {
    /// Value at the last sample; `None` while unknown.
    sampled: Option<bool>,
    now: Option<bool>,
    waits: bool,
    changes: u64,
    /// Changes between two known values at any time.
    edges: u64,
}

/// Counts the changes in a waveform of `bench.dut`, beginning at clock `from`. The first rising edge ends clock 0.
fn count(
    waveform: impl BufRead,
    bench: &str,
    (from, pulses): (u64, &BTreeSet<String>),
) -> io::Result<RecordedActivity> {
    let mut parser = Parser::new(waveform);
    let header = parser.parse_header()?;
    let lacks = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("no `{what}` in it"));
    let dut = header.find_scope(&[bench, "dut"]).ok_or_else(|| lacks("dut"))?;
    let clock = dut.find_var("clk_i").ok_or_else(|| lacks("clk_i"))?.code;
    let mut nets: HashMap<IdCode, Net> = HashMap::new();
    // `changed`: nets that changed since the last sample. `present`: changes at the current time, which belong to the next
    // clock if the clock rises at this time.
    let (mut changed, mut present): (Vec<IdCode>, Vec<(IdCode, Option<bool>)>) = (Vec::new(), Vec::new());
    let (mut clocks, mut rises) = (0, false);
    let mut settle = |present: &mut Vec<(IdCode, Option<bool>)>, rises: bool, clocks: &mut u64| {
        if rises {
            *clocks += 1;
            for code in changed.drain(..) {
                let net = nets.entry(code).or_default();
                let changes = net.sampled.is_some_and(|old| net.now.is_some_and(|new| new != old));
                net.changes += u64::from(changes && *clocks > from);
                (net.sampled, net.waits) = (net.now.or(net.sampled), false);
            }
        }
        for (code, value) in present.drain(..) {
            let net = nets.entry(code).or_default();
            let is_edge = net.now.is_some_and(|old| value.is_some_and(|new| new != old));
            net.edges += u64::from(is_edge && *clocks > from);
            net.now = value;
            if !std::mem::replace(&mut net.waits, true) {
                changed.push(code);
            }
        }
    };
    for command in parser {
        match command? {
            Command::Timestamp(_) => {
                settle(&mut present, rises, &mut clocks);
                rises = false;
            }
            Command::ChangeScalar(code, value) => {
                rises |= code == clock && value == Value::V1;
                let value = match value {
                    Value::V0 => Some(false),
                    Value::V1 => Some(true),
                    _ => None,
                };
                present.push((code, value));
            }
            _ => {}
        }
    }
    settle(&mut present, rises, &mut clocks);
    let clocks = clocks.saturating_sub(from);
    let mut changes = BTreeMap::new();
    for cell in dut.items.iter().filter_map(|item| match item {
        ScopeItem::Scope(cell) => Some(cell),
        _ => None,
    }) {
        for pin in cell.items.iter().filter_map(|item| match item {
            ScopeItem::Var(pin) => Some(pin),
            _ => None,
        }) {
            let name = format!("{}/{}", cell.identifier, pin.reference);
            let seen = nets
                .get(&pin.code)
                .map_or(0, |net| if pulses.contains(&name) { net.edges } else { net.changes });
            let seen = if pin.code == clock { 2 * clocks } else { seen };
            changes.insert(name, seen);
        }
    }
    Ok(RecordedActivity { clocks, changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_changes_when_its_settled_value_does() {
        // d rises and falls between two edges, q follows the second and third edge, and x starts as unknown.
        let waveform = "$timescale 1ns $end $scope module t $end $scope module dut $end $var wire 1 c clk_i $end
            $scope module f $end $var wire 1 c C $end $var wire 1 d D $end $var wire 1 q Q $end $var wire 1 x X $end
            $upscope $end $upscope $end $upscope $end $enddefinitions $end
            #0 0c 0d 0q xx #5 1c 1x #7 1d #8 0d #10 0c #15 1c 1q #20 0c 1d #25 1c 0q #30 0c #35 1c\n";
        let none = BTreeSet::new();
        let activity = count(waveform.as_bytes(), "t", (0, &none)).expect("a waveform");
        let of = |pin: &str| activity.changes[pin];
        assert_eq!(activity.clocks, 4);
        assert_eq!((of("f/C"), of("f/D"), of("f/Q"), of("f/X")), (8, 1, 2, 0));
        assert_eq!(activity.changes.len(), 4);
        // Only one of q's changes, in clocks 2 and 3, is counted.
        // d as a pulse: two edges in clock 1, of which none is settled.
        let pulses = BTreeSet::from(["f/D".to_string()]);
        assert_eq!(count(waveform.as_bytes(), "t", (0, &pulses)).expect("a waveform").changes["f/D"], 3);
        let later = count(waveform.as_bytes(), "t", (3, &none)).expect("a waveform");
        assert_eq!(
            (later.clocks, later.changes["f/C"], later.changes["f/D"], later.changes["f/Q"]),
            (1, 2, 0, 1)
        );
        assert_eq!(count(waveform.as_bytes(), "t", (9, &none)).expect("a waveform").clocks, 0);
    }

    #[test]
    fn a_waveform_of_something_else_is_refused() {
        let waveform = "$scope module t $end $upscope $end $enddefinitions $end #0";
        let error =
            count(waveform.as_bytes(), "t", (0, &BTreeSet::new())).expect_err("nothing in it").to_string();
        assert!(error.contains("no `dut`"), "{error}");
    }
}
