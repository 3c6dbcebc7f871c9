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
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::mechanism::{Claim, MechanismError, MechanismInfo, Needs, OptionInfo, Part, Site};
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
    summary: "memoizes functions without side effects in unused shared memory, by assist warps",
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
    needs: Needs::Execution,
    machine_needs: "at most 48 warps on two schedulers, shared memory that CTAs leave",
    claims: &[Claim::AssistWarps],
    machine,
    attach,
    ..MechanismInfo::NOTHING
};

/// What an event is for: a region with the given number of words of inputs and of results.
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

    /// A hash of the inputs from register `first` on into r4: their products with the golden ratio, which goes into `golden`.
    /// Its highest bits are the number of an entry, and those of another product with `golden` that of a second one.
    fn hash(self, first: usize, golden: &str) -> String {
        let more: String = (1..self.inputs)
            .map(|input| format!("add r4, r4, r{}\nmul r4, r4, {golden}\n", first + input))
            .collect();
        format!("lih {golden}, 0x9e37\nlih {golden}, 0x79b1\nmul r4, r{first}, {golden}\n{more}")
    }

    /// Moves words from the parent: `from` is the first one's number, `to` the first register's.
    fn moves(count: usize, from: usize, to: usize) -> String {
        (0..count).map(|word| format!("par r{}, {}\n", to + word, from + word)).collect()
    }

    /// The entry of the hash in r4 into r8 to r11, and its results into r13 and r14 in the lanes in which it has the tag and
    /// the inputs, which `found` tells.
    fn compare(self, found: &str) -> String {
        let Shape { inputs, results } = self;
        let same: String =
            (0..inputs).map(|n| format!("eqand.4 {found}, r{}, r{}, {found}\n", 9 + n, 5 + n)).collect();
        let taken: String =
            (0..results).map(|n| format!("@{found} mov r{}, r{}\n", 13 + n, 9 + inputs + n)).collect();
        format!("par r7, 1\nshrv r7, r4, r7\nldv r8, r7\npar r7, 0\neq.4 {found}, r8, r7\n{same}{taken}")
    }

    /// Returns whether one of the two entries is that of the inputs, in every lane that runs. p2 keeps in which lanes it is.
    fn lookup(self) -> Routine {
        let Shape { inputs, results } = self;
        let given: String = (0..results).map(|n| format!("@p3 give r{}, {n}\n", 13 + n)).collect();
        let code = [
            Self::moves(inputs, 2, 5),
            self.hash(5, "r12"),
            self.compare("p1"),
            "mul r4, r4, r12\n".into(),
            self.compare("p2"),
            "@p1 eq.4 p2, r4, r4\nall p3, p2\n".into(),
            given,
            "@p3 done 1, 0\n".into(),
        ];
        routine(&code.concat())
    }

    /// Is the place of the hash, whose number goes into `place`, empty, or has another warp stored the same there meanwhile?
    fn is_free(self, place: &str, free: &str) -> String {
        let same: String =
            (0..self.inputs).map(|n| format!("eqand.4 {free}, r{}, r{}, {free}\n", 13 + n, 9 + n)).collect();
        format!(
            "shrv {place}, r4, r7\nldv r12, {place}\neq.4 {free}, r12, r8\n{same}@!{free} eqi {free}, r12, 0\n"
        )
    }

    /// The entry in r8 to r11 goes to the first of its two places that is free; if none is, to the one whose turn it is.
    fn store(self) -> Routine {
        let words = self.inputs + self.results;
        let code = [
            Self::moves(words, 2, 9),
            self.hash(9, "r5"),
            "par r8, 0\npar r7, 1\n".into(),
            self.is_free("r6", "p1"),
            "mul r4, r4, r5\n".into(),
            self.is_free("r7", "p2"),
            format!("par r4, {}\ntst p3, r4, 1\n@p2 eq.4 p3, r4, r4\n@p1 tst p3, r4, 0\n", 2 + words),
            "@p3 mov r6, r7\nstv r8, r6\n".into(),
        ];
        routine(&code.concat())
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

/// The registers of assist warps come out of the threads', and those that keep for a region's end its inputs and in which lanes
/// it was found.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    suits_controller(part, config)?;
    let kept = SHAPES.iter().map(|shape| shape.inputs as u32).max().unwrap_or(0);
    config.sm.extra_registers += routines().registers() + kept + 1;
    Ok(())
}

fn attach(part: &Part, site: &mut Site<'_>) {
    let options = sm::Options {
        entries: part.options[ENTRIES],
        least: part.options[LEAST],
        throttle: throttle(part),
        latencies: Latencies::of(site.config),
        shared_bytes: site.config.sm.shared_bytes,
    };
    let probes = site.probes;
    site.each_sm(|id| MemoSm::new(id, options, probes));
}
