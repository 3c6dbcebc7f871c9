//! Measures delay and logic depth with OpenSTA.
use crate::error::AreaError;
use crate::liberty::Liberty;

/// Clock period for the measurement of slack, ns. It is longer than any path.
const PERIOD_NS: f64 = 1000.0;

/// Replaces special characters in escaped names of a netlist. OpenSTA would read brackets in an escaped name as an index of
/// a bus. It would then not find the ports of a memory in an array of instances.
pub(crate) fn plain_names(netlist: &str) -> String {
    let mut plain = String::with_capacity(netlist.len());
    let mut rest = netlist;
    while let Some(start) = rest.find('\\') {
        plain += &rest[..start];
        let name = &rest[start + 1..];
        let end = name.find(char::is_whitespace).unwrap_or(name.len());
        plain.extend(name[..end].chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }));
        rest = &name[end..];
    }
    plain + rest
}

/// Returns OpenSTA's script for the netlist `GOAL_timing.v` of `wrapper`. Ports count as registers without delay; only ports
/// of memories have logic between them and a register. With `has_gates`, the enable of a clock gate has a whole period.
pub fn script(goal: &str, wrapper: &str, reset: Option<&str>, has_gates: bool) -> String {
    let reset = reset.map(|port| format!("set_false_path -from [get_ports {port}]\n")).unwrap_or_default();
    // OpenSTA counts a latch's delay from its opening edge, half a period after the clock.
    let gates = if has_gates {
        format!(
            "set_max_delay {} -to [all_registers -level_sensitive -data_pins]\n\
             set_false_path -from [all_registers -level_sensitive -clock_pins]\n",
            PERIOD_NS / 2.0
        )
    } else {
        String::new()
    };
    format!(
        "read_liberty cells.lib\nread_verilog {goal}_timing.v\nlink_design {wrapper}\n\
         create_clock -name clk -period {PERIOD_NS} [get_ports clk_i]\nset_input_delay -clock clk 0 [all_inputs]\n\
         set_output_delay -clock clk 0 [all_outputs]\n{reset}{gates}\
         report_checks -path_delay max -format full -digits 5\nexit\n"
    )
}

/// The critical path of a netlist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalPath {
    /// The min period of the clock, ns: launch, logic and setup.
    pub period_ns: f64,
    /// Number of combinational cells on the path.
    pub depth: usize,
}

/// Reads OpenSTA's report.
///
/// # Errors
/// [`AreaError::NoAnswer`] if the report contains no path, with OpenSTA's error message.
pub fn parse(report: &str, library: &Liberty, work: &str) -> Result<CriticalPath, AreaError> {
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
    Ok(CriticalPath { period_ns: PERIOD_NS - slack, depth: path.filter(is_logic).count() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_name_keeps_no_brackets() {
        let netlist = "  output \\dut.each[0].words.WR_DATA[26] ;\n  INVX1 _1_ (.A(\\q[3] ), .Y(n[0]));\n";
        let plain = "  output dut_each_0__words_WR_DATA_26_ ;\n  INVX1 _1_ (.A(q_3_ ), .Y(n[0]));\n";
        assert_eq!(plain_names(netlist), plain);
    }
}
