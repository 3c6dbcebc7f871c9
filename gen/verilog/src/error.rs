//! The errors of the back end: expressions, statements and names that it refuses.

use thiserror::Error;

/// A block that cannot be written as Verilog with the same behaviour. The back end emits nothing in this case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{block}: '{subject}': {problem}")]
pub struct EmitError {
    /// The name of the block's type, or of its field if the type is unknown.
    pub block: String,
    /// The expression, statement or name that is refused, as in the Rust source.
    pub subject: String,
    /// The reason for the refusal.
    pub problem: Problem,
}

/// Reasons for a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// A name that is neither a signal, a loop variable nor a declared parameter of the block.
    #[error(
        "unknown name; a constant of Rust must be a const generic of the block's rtl_block!, a size given to \
         sizes, or a Constant field"
    )]
    UnknownName,
    /// A literal, loop variable or slice that does not fit its width.
    #[error("{value} does not fit into {width} bits")]
    TooWide {
        /// The value.
        value: String,
        /// The width that it must fit into.
        width: usize,
    },
    /// The width of an expression cannot be known from the syntax.
    #[error("the width of this expression is not known here; assign it to a Local first")]
    UnknownWidth,
    /// Operands, or sides of an assignment, of different widths. Rust's types exclude this, so the source hides a
    /// conversion.
    #[error("{have} bits where {want} are needed; convert with bit_cast")]
    Mismatch {
        /// The width of the expression.
        have: usize,
        /// The width of its target.
        want: usize,
    },
    /// Bits that do not exist.
    #[error("bits {from} to {to} of a value of {width} bits")]
    OutOfRange {
        /// The lowest bit asked for.
        from: usize,
        /// The highest bit asked for.
        to: usize,
        /// The width of the value.
        width: usize,
    },
    /// An element that does not exist.
    #[error("element {index} of an array of {length}")]
    OutOfBounds {
        /// The element asked for.
        index: usize,
        /// The number of elements.
        length: usize,
    },
    /// An array index that depends on a signal and may exceed the array.
    #[error(
        "an index of up to {largest} into an array of {length}: only an index that cannot be too large is safe"
    )]
    UnsafeIndex {
        /// The largest value of the index.
        largest: usize,
        /// The number of elements.
        length: usize,
    },
    /// A wrong number of indices.
    #[error("{given} indices where the array has {expected} dimensions")]
    Dimensions {
        /// The indices given.
        given: usize,
        /// The dimensions of the array.
        expected: usize,
    },
    /// A signal that keeps its old value on some path, which makes it a latch.
    #[error("not assigned in every case (this would be a latch); assign a default first")]
    Latch,
    /// A signal that is read before it has its value.
    #[error("read before it is assigned")]
    ReadBeforeAssigned,
    /// A signal that nothing drives.
    #[error("never assigned")]
    Undriven,
    /// An assignment to a signal that the block does not drive, such as an input.
    #[error("assigned here, but driven from elsewhere")]
    DrivenTwice,
    /// A clock or reset that does not come from the block's own clock or reset input.
    #[error("must be driven by the block's own clock or reset input, and by nothing else")]
    ForeignClock,
    /// Registers in a block without clock or reset input.
    #[error("the block needs the inputs clk_i and rst_ni for this")]
    NoClock,
    /// A name with a meaning in Verilog or C++.
    #[error("a reserved word of Verilog, SystemVerilog or C++")]
    ReservedName,
    /// A name that is not a valid Verilog or file name.
    #[error("not a lower_snake_case name")]
    BadName,
    /// A name with the prefix of shared cells.
    #[error("must not begin with selvedge_: that is how the names of shared cells begin")]
    CellName,
    /// Two items with the same name in Verilog.
    #[error("has the same name in Verilog as '{other}'")]
    NameClash {
        /// The other item, by its Rust name.
        other: String,
    },
    /// A leaf with its own Verilog that is not part of the kit.
    #[error("Verilog written by hand, which is not of the kit and not proven")]
    ForeignVerilog,
    /// A layout whose name is not a signal of the block.
    #[error("a layout names this, which is no signal of the block")]
    UnknownSignal,
    /// A layout whose fields do not fill its signal.
    #[error("the fields of its layout have {have} bits, and the signal has {want}")]
    UnevenLayout {
        /// Bits of all fields.
        have: usize,
        /// Bits of the signal.
        want: usize,
    },
    /// Elements of an array that differ in width, type or sizes.
    #[error("the elements of this array differ from each other")]
    UnevenArray,
    /// Parameters that a block's Verilog must have, but that change more than numbers with an expression.
    #[error(
        "its Verilog cannot have the parameters {parameters}: they change more than numbers that follow from them"
    )]
    NoFamily {
        /// The parameters.
        parameters: String,
    },
    /// Syntax that has no counterpart.
    #[error("{0}")]
    Unsupported(&'static str),
}
