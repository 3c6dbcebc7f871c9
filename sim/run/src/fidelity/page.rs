//! Renders expected and measured values as a Markdown page.
use super::measurement::Measurement;
use selvedge_gpu::config::BuiltIn;
use std::fmt::Write;

const HEAD: &str = "# Fidelity

Is each configuration as fast as its description says? Every value is expected by a formula of the configuration's file alone and then
measured by a microbenchmark on the simulator, with every DRAM command under the checker. `selvedge fidelity -o
docs/fidelity.md` writes this page; a test fails when it is stale or a value leaves its bounds. The formulas stand beside the
microbenchmarks in `sim/run/src/fidelity/` and in `sim/gpu/src/partition/closed_form.rs`:

- arithmetic: the pipe's latency and that of the stages' registers; rate: one warp per scheduler and cycle, or lanes / 32 per
  pipe
- shared memory: the stages' registers, address generation (32 / lanes), the latency, and one cycle more for each way of a
  conflict but the first; the first two stand before all that follows
- strides: 32 x 4 x stride bytes over the line size; L1D hits take a line per cycle, or address generation if that is longer
- L1D hit: the cycles in front of the tags and the hit latency; L2 hit: the cycles in front of the L1D's tags, the crossbar both
  ways, the hit latency, each in its own clock, mean over the clocks' phases
- L2 rates: a flit per cycle and reply port, of which each slice of a partition has one, and the gap between packets
- misses in flight: MSHRs / the L2's round trip, up to the SM's reply port
- DRAM read: the L2's round trip, the controller, tCL and the bursts, tCCD_L apart within a bank group; tRCD more in a closed
  bank, tRP more for another row
- DRAM stream: the data buses, or the L2's reply ports where they carry less; one partition: its share of the buses

\"Allowed\" names what agrees with the formula: the value alone where it is exact; the spread of the clocks' phases for round
trips; a share below the peak for rates, which the ends of a run and queues cost. These shares are tolerances: what head-of-line
blocking costs a stream, which is most on the Maxwells, follows from no formula here.
";

/// Returns the page for the built-in configurations, in the order of `measured`.
pub fn page(measured: &[(&BuiltIn, Vec<Measurement>)]) -> String {
    let sections = measured.iter().map(|(machine, found)| section(machine.name, machine.summary, found));
    sections.fold(HEAD.to_string(), |text, section| text + "\n" + &section)
}

/// Returns the section with the table of one configuration.
pub fn section(name: &str, summary: &str, found: &[Measurement]) -> String {
    let mut text = format!(
        "## {name}\n\n{summary}.\n\n| what | unit | expected | measured | error | allowed |\n|---|---|---|---|---|---|\n"
    );
    for m in found {
        let (low, high) = m.allowed;
        let allowed =
            if high - low < 1e-6 { "exact".into() } else { format!("{} to {}", short(low), short(high)) };
        let error = match m.error() * 100.0 {
            // Avoids a sign before a rounded zero.
            error if error.abs() < 0.005 => "0.00 %".into(),
            error => format!("{error:+.2} %"),
        };
        let (expected, measured) = (short(m.expected), short(m.measured));
        writeln!(text, "| {} | {} | {expected} | {measured} | {error} | {allowed} |", m.name, m.unit)
            .expect("a string takes it");
    }
    text
}

/// Formats integers without a fraction, values below 1 with four digits, and others with two.
fn short(value: f64) -> String {
    if (value - value.round()).abs() < 1e-9 {
        format!("{value:.0}")
    } else if value.abs() < 1.0 {
        format!("{value:.4}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_shows_both_values_their_error_and_what_is_allowed() {
        let found = [
            Measurement::exact("one", "cycles", 18.0, 18.0),
            Measurement::within("two", "cycles", (100.0, 1.5), 99.25),
            Measurement::below("three", "lines", (0.5, 0.1), 0.495),
        ];
        let text = section("m", "a machine", &found);
        let rows: Vec<_> = text.lines().skip(6).collect();
        assert_eq!(
            rows,
            [
                "| one | cycles | 18 | 18 | 0.00 % | exact |",
                "| two | cycles | 100 | 99.25 | -0.75 % | 98.50 to 101.50 |",
                "| three | lines | 0.5000 | 0.4950 | -1.00 % | 0.4500 to 0.5005 |",
            ]
        );
    }
}
