//! Claims about a block, and the reach of their proofs.

/// The properties of a block.
#[derive(Clone, Debug, Default)]
pub struct Properties {
    /// Signals inside the block's module that the expressions name, in addition to its ports.
    pub inside: Vec<&'static str>,
    /// Constants with any value.
    pub constants: Vec<AnyConstant>,
    /// Memories that a proof replaces by one word each.
    pub memories: Vec<WatchedMemory>,
    /// Signals that only lemmas name.
    pub seen: Vec<SeenSignal>,
    /// Values within one cycle that the expressions name.
    pub wires: Vec<CycleValue>,
    /// Values that are stored from cycle to cycle.
    pub registers: Vec<StoredValue>,
    /// The claims that must hold in each cycle.
    pub claims: Vec<Assertion>,
    /// Claims about words of memories, which only a proof sees. They make the other claims inductive.
    pub lemmas: Vec<Assertion>,
    /// The method and reach of the proof.
    pub reach: Reach,
}

impl Properties {
    /// Returns the properties, with a proof for each claim on its own.
    pub(super) fn each(mut self) -> Self {
        self.reach = Reach::Each { claims: self.claims.len() as u32, lemmas: self.lemmas.len() as u32 };
        self
    }
}

/// A constant. A proof holds for each of its values.
#[derive(Clone, Debug)]
pub struct AnyConstant {
    /// Name.
    pub name: &'static str,
    /// Width in bits.
    pub bits: u64,
    /// Verilog expression of its value in a simulation. May depend on signals if no stored value depends on the constant.
    pub simulated: String,
}

/// A memory. A proof keeps its word at one address. A read of another address returns any value, so a claim must hold for
/// every content.
#[derive(Clone, Debug)]
pub struct WatchedMemory {
    /// Path of its instance below the block's module.
    pub path: String,
    /// Verilog expression of the address. It must be constant in a proof.
    pub place: &'static str,
    /// Width of the address in bits.
    pub place_bits: u64,
    /// Name by which lemmas refer to the word.
    pub word: String,
    /// Width of the word in bits.
    pub bits: u64,
}

/// A signal of the block that only a proof sees.
#[derive(Clone, Debug)]
pub struct SeenSignal {
    /// Name by which lemmas refer to it.
    pub name: &'static str,
    /// Path below the block's module.
    pub path: &'static str,
    /// Width in bits.
    pub bits: u64,
}

/// A value within one cycle.
#[derive(Clone, Debug)]
pub struct CycleValue {
    /// Name.
    pub name: String,
    /// Width in bits.
    pub bits: u64,
    /// Verilog expression of that width.
    pub value: String,
}

/// A value that is stored from cycle to cycle.
#[derive(Clone, Debug)]
pub struct StoredValue {
    /// Name.
    pub name: &'static str,
    /// Width in bits.
    pub bits: u64,
    /// The value in reset; `None` if reset does not change it.
    pub reset: Option<u64>,
    /// Verilog expression of its next value.
    pub next: String,
}

/// An assertion.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// Name, which is part of a Verilog name.
    pub name: &'static str,
    /// The claim in words, for the message.
    pub what: &'static str,
    /// Verilog expression that is 1 in each cycle.
    pub holds: String,
}

/// The cycles or states for which a proof holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The given number of cycles, from the start.
    Cycles(u32),
    /// The given number of cycles, from the start, by binary decision diagrams. Useful for remainders, which a solver does not
    /// prove.
    Diagrams {
        /// Number of cycles.
        cycles: u32,
    },
    /// Every reachable state. The proof gives up after the given number of seconds.
    AllStates {
        /// Seconds until the proof gives up.
        seconds: u32,
    },
    /// Every reachable state, if the property is inductive. It must hold in the first `steps` cycles. It must also hold in
    /// each cycle after `steps - 1` cycles in which it held. Useful for relations between counters.
    Induction {
        /// Number of cycles of the base and of the induction step.
        steps: u32,
    },
    /// Every reachable state. Each claim is proved on its own, from all claims in the cycle before. Useful for many wide
    /// claims.
    Each {
        /// Number of claims.
        claims: u32,
        /// Number of lemmas.
        lemmas: u32,
    },
}

impl Default for Reach {
    /// A state that satisfies all claims has only successors that do.
    fn default() -> Self {
        Self::Induction { steps: 2 }
    }
}

/// Returns an assertion.
pub(super) fn claim(name: &'static str, what: &'static str, holds: impl Into<String>) -> Assertion {
    Assertion { name, what, holds: holds.into() }
}

/// Returns a value within one cycle.
pub(super) fn wire(name: impl Into<String>, bits: u64, value: impl Into<String>) -> CycleValue {
    CycleValue { name: name.into(), bits, value: value.into() }
}

/// Returns a value that is stored from cycle to cycle, and is `reset` after a reset.
pub(super) fn stored(name: &'static str, bits: u64, reset: u64, next: impl Into<String>) -> StoredValue {
    StoredValue { name, bits, reset: Some(reset), next: next.into() }
}

/// Returns a value that is stored from cycle to cycle, and that a reset does not change.
pub(super) fn kept(name: &'static str, bits: u64, next: &str) -> StoredValue {
    StoredValue { name, bits, reset: None, next: next.into() }
}

/// Returns a constant that has any value in a proof, and the given value in a simulation.
pub(super) fn any(name: &'static str, bits: u64, simulated: impl Into<String>) -> AnyConstant {
    AnyConstant { name, bits, simulated: simulated.into() }
}

/// Returns a signal that only lemmas name, from its path below the block's module.
pub(super) fn seen(name: &'static str, path: &'static str, bits: u64) -> SeenSignal {
    SeenSignal { name, path, bits }
}

/// Returns a memory. A proof keeps its word at `place`.
pub(super) fn watched(
    path: impl Into<String>,
    place: (&'static str, u64),
    word: impl Into<String>,
    bits: u64,
) -> WatchedMemory {
    WatchedMemory { path: path.into(), place: place.0, place_bits: place.1, word: word.into(), bits }
}
