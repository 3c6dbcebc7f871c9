//! One DRAM channel: memory controller, GDDR5 banks and data bus, with an independent checker of its commands.
//!
//! A request moves 1 to 4 bursts of one line: CABA, section 5.3.2, lets compressed lines move fewer bursts than
//! raw ones. Bursts of a request are back to back column commands of one row; only the first takes a command slot,
//! the controller's burst sequencer adds the others ([`timing`]).
pub mod address;
pub mod channel;
pub mod checker;
#[cfg(test)]
mod tests;
pub mod timing;

pub use address::{BankMap, Location};
pub use channel::{Access, Channel, DramCounters, Request};
pub use checker::{Checker, Command, CommandKind, Violation};
pub use timing::Timing;
