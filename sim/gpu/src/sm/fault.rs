//! Why a simulation cannot go on.
use crate::bounds::Limit;
use crate::stage::MechanismFault;
use crate::trace::TraceError;
use selvedge_ptx::ptx::Fault;

/// Why a simulation cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum SimFault {
    /// The kernel did something that is not allowed.
    #[error(transparent)]
    Kernel(Box<Fault>),
    /// A mechanism's model and RTL differ.
    #[error("{0}")]
    Mechanism(MechanismFault),
    /// Nothing can progress any more.
    #[error("deadlock at cycle {cycle}: {waiting}")]
    Deadlock {
        /// Core cycle.
        cycle: u64,
        /// Who waits for what.
        waiting: String,
    },
    /// A CTA needs more than an SM has.
    #[error("kernel {kernel}: a CTA needs {need}, an SM of `{config}` has {have}")]
    TooLarge {
        /// Kernel name.
        kernel: String,
        /// What is needed.
        need: String,
        /// The configuration's name.
        config: String,
        /// What there is.
        have: String,
    },
    /// A launch that the kernel or any GPU refuses.
    #[error("{0}")]
    Launch(String),
    /// A trace that does not fit to what it is replayed on.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The simulation reached a limit.
    #[error("{limit} reached at cycle {cycle}")]
    Limited {
        /// The limit.
        limit: Limit,
        /// Core cycle.
        cycle: u64,
    },
    /// The user asked to stop.
    #[error("interrupted at cycle {cycle}")]
    Interrupted {
        /// Core cycle.
        cycle: u64,
    },
}
