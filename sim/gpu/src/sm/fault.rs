//! Errors that end a simulation.
use crate::bounds::Limit;
use crate::stage::MechanismFault;
use crate::trace::error::TraceError;
use selvedge_ptx::ptx::Fault;

/// Result of an instruction or a cycle of an SM. The error is boxed so that the result fits into registers.
pub(crate) type SimResult<T> = Result<T, Box<SimFault>>;

/// An error that ends a simulation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimFault {
    /// The kernel performed an illegal operation.
    #[error(transparent)]
    Kernel(Box<Fault>),
    /// A mechanism's model and RTL differ.
    #[error("{0}")]
    Mechanism(MechanismFault),
    /// Nothing progresses any more.
    #[error("deadlock at cycle {cycle}: {waiting}")]
    Deadlock {
        /// Core cycle.
        cycle: u64,
        /// The waiting components, each with the resource that it waits for.
        waiting: String,
    },
    /// A CTA needs more than an SM has.
    #[error("kernel {kernel}: a CTA needs {need}, an SM of `{config}` has {have}{}", advice(*fits))]
    TooLarge {
        /// Kernel name.
        kernel: String,
        /// The required amount and its resource.
        need: String,
        /// The configuration's name.
        config: String,
        /// The amount that the SM has.
        have: String,
        /// A built-in configuration that has enough of all resources.
        fits: Option<&'static str>,
    },
    /// Clusters that are larger than the GPU allows.
    #[error("kernel {kernel}: clusters of {ctas} CTAs, `{config}` allows {most}{}", advice(*fits))]
    Cluster {
        /// Kernel name.
        kernel: String,
        /// CTAs of a cluster.
        ctas: u32,
        /// The configuration's name.
        config: String,
        /// Max CTAs of a cluster of this kernel in a group of SMs.
        most: u32,
        /// A built-in configuration that has room for the cluster.
        fits: Option<&'static str>,
    },
    /// A launch that the kernel or every GPU rejects.
    #[error("{0}")]
    Launch(String),
    /// A trace that does not match the GPU or launch that replays it.
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
    /// The user interrupted the simulation.
    #[error("interrupted at cycle {cycle}")]
    Interrupted {
        /// Core cycle.
        cycle: u64,
    },
}

/// Returns the end of the message of [`SimFault::TooLarge`] and [`SimFault::Cluster`]. It names the configuration `fits`, if one is
/// large enough.
fn advice(fits: Option<&str>) -> String {
    fits.map(|name| format!("; `--config {name}` has room for it")).unwrap_or_default()
}

impl SimFault {
    /// Returns a kernel's fault in the form that SMs return.
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
