//! Why a simulation cannot go on.
use crate::bounds::Limit;
use crate::stage::MechanismFault;
use crate::trace::TraceError;
use selvedge_ptx::ptx::Fault;

/// What an SM returns of an instruction or a cycle: small enough for registers, so that nobody waits for its way through memory.
pub(crate) type SimResult<T> = Result<T, Box<SimFault>>;

/// Why a simulation cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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

impl SimFault {
    /// Returns the fault of a kernel, as SMs pass it on.
    #[cold]
    pub(crate) fn boxed(fault: Box<Fault>) -> Box<Self> {
        Box::new(SimFault::Kernel(fault))
    }
}

impl From<Box<SimFault>> for SimFault {
    fn from(fault: Box<SimFault>) -> Self {
        *fault
    }
}

impl From<MechanismFault> for Box<SimFault> {
    #[cold]
    fn from(fault: MechanismFault) -> Self {
        Box::new(SimFault::Mechanism(fault))
    }
}
