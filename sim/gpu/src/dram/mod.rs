//! One DRAM channel: memory controller, GDDR5 banks and data bus, with an independent checker of its commands.
//!
//! A channel may be divided into sub-ranks, each with a part of the data bus ([`sub_rank`]; LAMAR, section 2.3.1). A request
//! moves 1 to 4 bursts of one line. Compressed lines need fewer bursts than uncompressed ones (CABA, section 5.3.2). The bursts
//! of a request are back-to-back column commands of one row. Only the first takes a command slot; the burst sequencer of the
//! controller adds the others ([`timing`]).
pub mod address;
pub mod channel;
pub mod checker;
pub mod counters;
pub mod energy;
mod queue;
mod queues;
#[cfg(test)]
mod refresh_tests;
pub mod request;
mod scheduler;
mod spec;
pub mod sub_rank;
#[cfg(test)]
mod sub_rank_tests;
#[cfg(test)]
mod tests;
pub mod timing;

pub use address::{ADDRESS_BITS, BankMap, Location};
pub use channel::Channel;
pub use checker::{CommandChecker, CommandKind, DramCommand, Violation};
pub use counters::DramCounters;
pub use energy::{Energy, EnergyModel};
pub use request::{Access, Bursts, Request};
pub use timing::Timing;
