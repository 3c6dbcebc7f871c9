//! Renders expected and measured values as a Markdown page.
use super::measurement::Measurement;
use selvedge_gpu::config::BuiltIn;
use std::fmt::Write;

const HEAD: &str = "<!-- Written by `selvedge fidelity -o docs/reference/fidelity.md` -->

# Fidelity tables

[Fidelity](../fidelity.md) has the formulas. \"Expected\" follows from the configuration alone, \"measured\" from a microbenchmark. \"Must be\" is the
accepted range: the exact value, the spread of the clock phases for round trips, or a share of the peak for rates.
";

/// Returns the page for the built-in configurations, in the order of `measured`.
pub fn page(measured: &[(&BuiltIn, Vec<Measurement>)]) -> String {
    let sections = measured.iter().map(|(machine, found)| section(machine.name, machine.summary, found));
    sections.fold(HEAD.to_string(), |text, section| text + "\n" + &section)
}

/// Returns the section with the table of one configuration.
pub fn section(name: &str, summary: &str, found: &[Measurement]) -> String {
    let mut text = format!(
        "## {name}\n\n{summary}.\n\n| what | unit | expected | measured | error | must be |\n|---|---|---|---|---|---|\n"
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
