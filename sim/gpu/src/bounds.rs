//! Bounds of a simulation, and the cycles at which they can be reached.
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::{self, Display, Formatter};

/// Bounds of a simulation. A bound of 0 stops it before its first cycle; `None` means unbounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Max core cycles.
    pub cycles: Option<u64>,
    /// Max thread instructions, which are the active lanes of issued warp instructions.
    pub instructions: Option<u64>,
}

/// A limit that ended a simulation.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Core cycles.
    MaxCycles(u64),
    /// Thread instructions.
    MaxInstructions(u64),
    /// Time, in seconds.
    TimeoutS(f64),
}

impl Display for Limit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Limit::MaxCycles(cycles) => write!(f, "max-cycles {cycles}"),
            Limit::MaxInstructions(instructions) => write!(f, "max-instructions {instructions}"),
            Limit::TimeoutS(seconds) => write!(f, "timeout {seconds}s"),
        }
    }
}

impl Bounds {
    /// Returns the same bounds with at most `cycles` core cycles.
    pub fn at_most(self, cycles: u64) -> Self {
        Bounds { cycles: Some(self.cycles.map_or(cycles, |own| own.min(cycles))), ..self }
    }

    /// Returns the limit that a simulation has reached after `cycle` core cycles and `instructions` thread instructions.
    pub(super) fn reached(&self, cycle: u64, instructions: u64) -> Option<Limit> {
        let cycles = self.cycles.filter(|most| *most <= cycle).map(Limit::MaxCycles);
        cycles.or_else(|| self.instructions.filter(|most| *most <= instructions).map(Limit::MaxInstructions))
    }

    /// Returns the first core cycle at whose end a simulation can reach a limit. No limit is reached at the end of `cycle`, and
    /// each later cycle adds at most `peak` instructions.
    pub(super) fn next(&self, cycle: u64, instructions: u64, peak: u64) -> u64 {
        let left = |most: u64| cycle.saturating_add((most.saturating_sub(instructions) / peak).max(1));
        let by_instructions = self.instructions.map_or(u64::MAX, left);
        self.cycles.unwrap_or(u64::MAX).min(by_instructions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_look_is_never_after_the_cycle_that_reaches_a_limit() {
        let bounds = Bounds { cycles: None, instructions: Some(1000) };
        for issued in 1..=64 {
            let (mut cycle, mut done) = (0, 0);
            while bounds.reached(cycle, done).is_none() {
                let next = bounds.next(cycle, done, 64);
                done += issued * (next - cycle);
                cycle = next;
            }
            assert_eq!(cycle, 1000u64.div_ceil(issued), "{issued} in each cycle");
        }
    }

    #[test]
    fn a_bound_only_tightens_the_limit_of_cycles() {
        let bounds = Bounds { cycles: Some(10), instructions: Some(7) };
        assert_eq!(bounds.at_most(4), Bounds { cycles: Some(4), instructions: Some(7) });
        assert_eq!(bounds.at_most(40), bounds);
        assert_eq!(Bounds::default().at_most(4).cycles, Some(4));
    }
}
