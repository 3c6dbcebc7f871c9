//! Errors in mechanisms, options, probes and planted faults.

/// An error in a mechanism or its options. The message has one line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MechanismError {
    /// The mechanism does not exist.
    #[error("unknown mechanism '{name}': {allowed}")]
    Unknown {
        /// Name as given.
        name: String,
        /// Existing names, as text.
        allowed: String,
    },
    /// The option does not exist, or its value is out of range.
    #[error("mechanism {mechanism}: option '{option}': {allowed}")]
    Option {
        /// Name of the mechanism.
        mechanism: String,
        /// Option as given.
        option: String,
        /// Allowed options or values.
        allowed: String,
    },
    /// The mechanism does not support a value of the configuration.
    #[error("mechanism {mechanism}: {key} = {value}: {allowed}")]
    Machine {
        /// Name of the mechanism.
        mechanism: String,
        /// Key in the configuration.
        key: &'static str,
        /// Value of the key.
        value: String,
        /// Supported values.
        allowed: &'static str,
    },
    /// The configuration sets the energy of a block that no mechanism uses.
    #[error("energy.blocks.{name}: no mechanism has such a block: {allowed}")]
    Block {
        /// Name of the block.
        name: String,
        /// Existing blocks.
        allowed: String,
    },
    /// Two mechanisms cannot be combined.
    #[error("mechanisms {first} and {second} cannot be combined: both {why}")]
    Conflict {
        /// Name of the first mechanism.
        first: String,
        /// Name of the second mechanism.
        second: String,
        /// Claim of both, from [`super::Claim::why`].
        why: &'static str,
    },
    /// The mechanism needs data that the trace does not contain.
    #[error("mechanism {mechanism}: {why}: allowed with it are {allowed}; {instead}")]
    Needs {
        /// Name of the mechanism.
        mechanism: String,
        /// Data that the mechanism needs, and the data of the trace.
        why: String,
        /// Mechanisms that do not need the data.
        allowed: String,
        /// Alternative to suggest.
        instead: &'static str,
    },
    /// The probe names no block instance of the mechanism.
    #[error("unknown probe '{name}': {allowed}")]
    Probe {
        /// Name as given.
        name: String,
        /// Existing instances.
        allowed: String,
    },
    /// Registers are to be recorded under an engine without RTL.
    #[error("--inside: the engine must be rtl, lockstep or rtl+verilog: others have no registers to record")]
    Inside,
    /// The block instance cannot be built under the engine.
    #[error("{instance}: {why}")]
    Instance {
        /// Name of the instance.
        instance: String,
        /// Reason.
        why: String,
    },
    /// The planted fault addresses a bit beyond the output ports of the block.
    #[error("--inject {fault}: must be a bit from 0 to {last}, one of the block's output ports")]
    Fault {
        /// Fault as given: instance, cycle and bit.
        fault: String,
        /// Number of the last bit.
        last: usize,
    },
}
