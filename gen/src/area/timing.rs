//! Delay and logic depth, by OpenSTA.
use super::error::AreaError;
use super::liberty::Liberty;

/// The clock that slack is measured against, ns: long enough for anything.
const PERIOD_NS: f64 = 1000.0;

/// OpenSTA's script for the netlist `GOAL_timing.v` of `wrapper`. Ports count as registers without delay; only those of
/// memories have logic between them and a register.
pub fn script(goal: &str, wrapper: &str, reset: Option<&str>) -> String {
    let reset = reset.map(|port| format!("set_false_path -from [get_ports {port}]\n")).unwrap_or_default();
    format!(
        "read_liberty cells.lib\nread_verilog {goal}_timing.v\nlink_design {wrapper}\n\
         create_clock -name clk -period {PERIOD_NS} [get_ports clk_i]\nset_input_delay -clock clk 0 [all_inputs]\n\
         set_output_delay -clock clk 0 [all_outputs]\n{reset}\
         report_checks -path_delay max -format full -digits 5\nexit\n"
    )
}

/// The critical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The shortest period of the clock, ns: launch, logic and setup.
    pub period_ns: f64,
    /// Combinational cells on it.
    pub depth: usize,
}

/// Reads OpenSTA's report.
///
/// # Errors
/// When there is no path in it; with OpenSTA's own words.
pub fn parse(report: &str, library: &Liberty, work: &str) -> Result<Path, AreaError> {
    let fail = |message: String| AreaError::NoAnswer { work: work.into(), message };
    if let Some(error) = report.lines().find(|line| line.starts_with("Error")) {
        return Err(fail(format!("OpenSTA: {error}")));
    }
    let slack = report.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            [value, "slack", ..] => value.parse::<f64>().ok(),
            _ => None,
        }
    });
    let slack = slack.ok_or_else(|| fail("OpenSTA found no path between registers".into()))?;
    let is_logic = |line: &&str| {
        let cell = line.rsplit_once('(').map_or("", |(_, cell)| cell.trim_end().trim_end_matches(')'));
        library.cells.get(cell).is_some_and(|cell| !cell.sequential)
    };
    let path = report.lines().take_while(|line| !line.contains("data arrival time"));
    Ok(Path { period_ns: PERIOD_NS - slack, depth: path.filter(is_logic).count() })
}
