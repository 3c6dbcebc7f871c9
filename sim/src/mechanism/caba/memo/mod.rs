//! Memoization by assist warps (CABA, section 8.1): a warp that comes to a function without side effects has an assist warp
//! look for the results in a table in the shared memory that no CTA has; what is not found is computed, and stored.
//!
//! ```text
//!   warp at the region's start --inputs--> [ lookups ] --event--> [ smN.awc ] <--event-- [ stores ] <--results-- at its end
//!          |           ^                                               | high                 ^
//!          |           |                                               v                      |
//!          |           +--not found: executes it-- [ lanes + look-up table in shared memory ]-+
//!          v                                                           |
//!   behind its end <----------------found in all lanes-----------------+
//! ```
//!
//! See `docs/mechanisms/caba-memo.md`.
mod counters;
mod sm;
pub mod table;
#[cfg(test)]
mod tests;

use super::assembly::assemble;
use super::routine::{Routine, Routines};
use super::warp::Latencies;
use super::{BUSY_LIMIT, IDLE_LIMIT, suits_controller, throttle};
use crate::config::GpuConfig;
use crate::gpu::Policies;
use crate::mechanism::{Build, Claim, MechanismError, MechanismInfo, OptionInfo, Part};
use crate::sm::policy::SmPolicy;
use sm::MemoSm;

/// Fewest entries of a table that is used at all: two for each lane of a warp.
const LEAST_ENTRIES: u32 = 64;

/// The option of the table's size.
const ENTRIES: &str = "entries";

/// The option of the shortest region.
const LEAST: &str = "least";

/// The registry's entry.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "caba-memo",
    summary: "memoization of functions without side effects, in shared memory that is left, by assist warps",
    source: "CABA, sections 4 and 8.1",
    blocks: &["awc"],
    options: &[
        OptionInfo {
            power_of_two: true,
            ..OptionInfo::number(
                ENTRIES,
                1024,
                (LEAST_ENTRIES, 1 << 16),
                "entries of each SM's table at most, 16 bytes each",
            )
        },
        OptionInfo::number(
            LEAST,
            32,
            (1, 1 << 16),
            "instructions of a function's code from which on it is memoized, if it has no loop",
        ),
        BUSY_LIMIT,
        IDLE_LIMIT,
    ],
    needs_values: true,
    claims: &[Claim::AssistWarps],
    machine,
    build,
};

/// What an event is for: a region with so many words of inputs and of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    inputs: usize,
    results: usize,
}

/// The regions that fit into an entry.
const SHAPES: [Shape; 3] =
    [Shape { inputs: 1, results: 1 }, Shape { inputs: 1, results: 2 }, Shape { inputs: 2, results: 1 }];

impl Shape {
    /// That of a region, if it fits into an entry.
    fn of(inputs: usize, results: usize) -> Option<Shape> {
        SHAPES.into_iter().find(|shape| (shape.inputs, shape.results) == (inputs, results))
    }

    fn number(self) -> u8 {
        SHAPES.iter().position(|shape| *shape == self).unwrap_or(0) as u8
    }

    /// The event of a warp that asks.
    fn lookup_event(self) -> u8 {
        2 * self.number()
    }

    /// The event of a warp that tells.
    fn store_event(self) -> u8 {
        2 * self.number() + 1
    }

    /// The number of the entry into r4, of the inputs from `first` on: a product with the golden ratio, as often as there are
    /// inputs, of which the highest bits count. It needs r7.
    fn hash(self, first: usize) -> String {
        let golden = "lih r7, 0x9e37\nlih r7, 0x79b1\n";
        let more: String = (1..self.inputs)
            .map(|input| format!("add r4, r4, r{}\nmul r4, r4, r7\n", first + input))
            .collect();
        format!("{golden}mul r4, r{first}, r7\n{more}par r7, 1\nshrv r4, r4, r7\n")
    }

    /// Moves words from the parent: `from` is the first one's number, `to` the first register's.
    fn moves(count: usize, from: usize, to: usize) -> String {
        (0..count).map(|word| format!("par r{}, {}\n", to + word, from + word)).collect()
    }

    /// Inputs in r5 and r6, the entry in r8 to r11: the same tag and inputs in every lane that runs?
    fn lookup(self) -> Routine {
        let Shape { inputs, results } = self;
        let moves = Self::moves(inputs, 2, 5);
        let compared: String =
            (0..inputs).map(|input| format!("eqand.4 p1, r{}, r{}, p1\n", 9 + input, 5 + input)).collect();
        let given: String =
            (0..results).map(|result| format!("@p2 give r{}, {result}\n", 9 + inputs + result)).collect();
        routine(&format!(
            "{moves}{}ldv r8, r4\npar r7, 0\neq.4 p1, r8, r7\n{compared}all p2, p1\n{given}@p2 done 1, 0\n",
            self.hash(5)
        ))
    }

    /// The entry in r8 to r11, of which the table has all or nothing.
    fn store(self) -> Routine {
        let Shape { inputs, results } = self;
        let moves = Self::moves(inputs + results, 2, 9);
        routine(&format!("{moves}{}par r8, 0\nstv r8, r4\n", self.hash(9)))
    }
}

fn routine(text: &str) -> Routine {
    Routine { code: assemble(text).expect("the routine is right"), mask: u32::MAX }
}

fn routines() -> Routines {
    let mut routines = Routines::default();
    for shape in SHAPES {
        routines.add(shape.lookup_event(), true, shape.lookup());
        routines.add(shape.store_event(), true, shape.store());
    }
    routines
}

/// The registers of assist warps, and those that keep a region's inputs for its end, come out of the threads'.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    suits_controller(part, config)?;
    let kept = SHAPES.iter().map(|shape| shape.inputs as u32).max().unwrap_or(0);
    config.sm.extra_registers += routines().registers() + kept;
    Ok(())
}

fn build(part: &Part, with: &Build<'_>) -> Policies {
    let options = sm::Options {
        entries: part.options[ENTRIES],
        least: part.options[LEAST],
        throttle: throttle(part),
        latencies: Latencies::of(with.config),
        shared_bytes: with.config.sm.shared_bytes,
    };
    let one = |id| Box::new(MemoSm::new(id, options, with.probes)) as Box<dyn SmPolicy>;
    Policies { sms: (0..with.config.sm.count).map(one).collect(), partitions: Vec::new() }
}
