//! Writes Surfer's command file: the signals of a waveform in order, with the cursor at the first interesting cycle.
//!
//! `surfer NAME.vcd --command-file NAME.sucl` reads it. Surfer documents its commands, but not the format of its state
//! files.
use crate::gtkwave::InitialView;
use crate::vectors::side;
use selvedge_hw::Direction;
use selvedge_hw::wave::{ROOT, Trace, clocks, cycle_variable, fields_scope};
use selvedge_hw::wave_event::EventRow;
use std::fmt::Write;

/// Returns the command file of a waveform.
pub fn command_file(traces: &[Trace]) -> String {
    let mut file = CommandFile::default();
    for clock in clocks(traces) {
        file.variable(ROOT, &cycle_variable(traces, clock));
    }
    for trace in traces {
        file.trace(trace);
    }
    // Surfer counts in the waveform's unit of time, which is picoseconds.
    file.command("cursor_set", &InitialView::of(traces).marker.to_string());
    file.0.push_str("goto_cursor\n");
    file.0
}

/// The text of a command file.
#[derive(Default)]
struct CommandFile(String);

impl CommandFile {
    /// Adds the signals of an instance.
    fn trace(&mut self, trace: &Trace) {
        let scope = format!("{ROOT}.{}", trace.instance);
        self.command("divider_add", &trace.instance);
        self.variable(&scope, "clk_i");
        self.variable(&scope, "rst_ni");
        let rows = EventRow::of(trace);
        if !rows.is_empty() {
            self.command("divider_add", "events");
        }
        rows.iter().for_each(|row| self.variable(&scope, row.event.name));
        for (title, direction) in [("inputs", Direction::Input), ("outputs", Direction::Output)] {
            self.command("divider_add", title);
            for port in side(&trace.ports, direction) {
                self.variable(&scope, port.name);
                let inner = format!("{scope}.{}", fields_scope(port.name));
                trace.fields_of(port.name).iter().for_each(|field| self.variable(&inner, &field.name));
            }
        }
        if !trace.registers.is_empty() {
            self.command("divider_add", "registers");
        }
        for register in &trace.registers {
            let scopes: Vec<&str> =
                [scope.as_str()].into_iter().chain(register.scope.iter().map(String::as_str)).collect();
            self.variable(&scopes.join("."), &register.name);
        }
    }

    fn variable(&mut self, scope: &str, name: &str) {
        self.command("variable_add", &format!("{scope}.{name}"));
    }

    fn command(&mut self, command: &str, argument: &str) {
        writeln!(self.0, "{command} {argument}").expect("writing to memory cannot fail");
    }
}
