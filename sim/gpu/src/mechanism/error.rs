//! Wrong mechanisms, options, probes and faults.

/// A wrong mechanism or option, in one line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MechanismError {
    /// No such mechanism.
    #[error("unknown mechanism `{name}`: {allowed}")]
    Unknown {
        /// What was given.
        name: String,
        /// The names there are.
        allowed: String,
    },
    /// No such option, or a value out of range.
    #[error("mechanism {mechanism}: option `{option}`: {allowed}")]
    Option {
        /// The mechanism.
        mechanism: String,
        /// The option as given.
        option: String,
        /// What is allowed.
        allowed: String,
    },
    /// A configuration that the mechanism does not suit.
    #[error("mechanism {mechanism}: {key} = {value}: {allowed}")]
    Machine {
        /// The mechanism.
        mechanism: String,
        /// The configuration's key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// An energy of a block that no mechanism has.
    #[error("energy.blocks.{name}: no mechanism has such a block: {allowed}")]
    Block {
        /// The block.
        name: String,
        /// The blocks there are.
        allowed: String,
    },
    /// Two mechanisms that cannot work together.
    #[error("mechanisms {first} and {second} cannot be combined: both {why}")]
    Conflict {
        /// The first.
        first: String,
        /// The second.
        second: String,
        /// What both claim.
        why: &'static str,
    },
    /// A mechanism that looks at what a trace does not have, or that the instructions of a trace would lack.
    #[error("mechanism {mechanism}: {why}: allowed with it are {allowed}; {instead}")]
    Needs {
        /// The mechanism.
        mechanism: String,
        /// What it looks at, and what there is.
        why: String,
        /// The mechanisms that do without.
        allowed: String,
        /// What else could be run.
        instead: &'static str,
    },
    /// A probe that names no block instance of the mechanism.
    #[error("unknown probe `{name}`: must be {allowed}")]
    Probe {
        /// What was given.
        name: String,
        /// The instances there are.
        allowed: String,
    },
    /// Registers that are to be recorded where no RTL runs.
    #[error("--inside: the engine must be rtl, lockstep or rtl+verilog: others have no registers to record")]
    Inside,
    /// A block instance that cannot be built under the engine.
    #[error("{instance}: {why}")]
    Instance {
        /// The instance.
        instance: String,
        /// Why not.
        why: String,
    },
    /// A planted fault beyond the outputs of its block.
    #[error("--inject {fault}: must be a bit from 0 to {last}, one of the block's output ports")]
    Fault {
        /// What was given: instance, cycle and bit.
        fault: String,
        /// The last bit.
        last: usize,
    },
}
