//! The memory system (crossbar, L2 slices and DRAM) behind the caller's own SMs or L1Ds.
use crate::failure::{exception, invalid};
use crate::from_json;
use pyo3::prelude::*;
use selvedge_embed::Failure;
use selvedge_sim::clocked_memory::{ClockedMemory, LineReply, LineRequest, MemoryOperation};
use selvedge_sim::config::GpuConfig;

/// Names of the operations.
const OPERATIONS: [(&str, MemoryOperation); 3] =
    [("read", MemoryOperation::Read), ("write", MemoryOperation::Write), ("atomic", MemoryOperation::Atomic)];

/// Core cycles between two checks for signals.
const SIGNAL_CYCLES: u64 = 4096;

/// The reply to a request.
#[pyclass(module = "selvedge", frozen, get_all)]
pub struct Reply {
    /// Number of the SM.
    sm: u32,
    /// "read", "write" or "atomic".
    operation: &'static str,
    /// Address of the first byte.
    address: u64,
    /// Number of bytes.
    bytes: u32,
    /// Tag of the request.
    tag: u64,
    /// Core cycle in which the request was accepted.
    sent: u64,
    /// Core cycle in which the reply was received.
    received: u64,
}

#[pymethods]
impl Reply {
    fn __repr__(&self) -> String {
        let Reply { sm, operation, address, bytes, tag, sent, received } = self;
        format!(
            "<Reply to SM {sm}: {operation} of {bytes} bytes at {address:#x}, tag {tag}, cycles {sent} to {received}>"
        )
    }
}

impl From<LineReply> for Reply {
    fn from(reply: LineReply) -> Self {
        let LineReply { request: LineRequest { sm, operation, address, bytes, tag }, sent, received } = reply;
        let operation = match operation {
            MemoryOperation::Read => "read",
            MemoryOperation::Write => "write",
            MemoryOperation::Atomic => "atomic",
        };
        Reply { sm, operation, address, bytes, tag, sent, received }
    }
}

/// A memory system that runs in the thread that owns it, while other threads of Python run.
struct SameThread<'a>(&'a mut ClockedMemory);

// SAFETY: `Python::detach` calls its closure in the calling thread. It asks for `Send` only to keep objects of Python out.
unsafe impl Send for SameThread<'_> {}

impl SameThread<'_> {
    fn run(self, cycles: u64) -> Result<(), String> {
        (0..cycles).try_for_each(|_| self.0.tick()).map_err(|fault| fault.to_string())
    }
}

/// The memory system of a configuration: crossbar, L2 slices and DRAM, under their clocks.
///
/// Requests carry no data: your program keeps the values of memory. `config` is the name of a built-in configuration or the
/// path of a file. Only the thread that creates a memory system may use it.
#[pyclass(module = "selvedge", unsendable)]
pub struct Memory {
    clocked: ClockedMemory,
    core_mhz: u32,
}

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (config="gtx480"))]
    fn new(config: &str) -> PyResult<Self> {
        let config = GpuConfig::load(config).map_err(invalid)?;
        Ok(Memory { clocked: ClockedMemory::new(&config), core_mhz: config.clock.core_mhz })
    }

    /// Number of SMs that can send requests.
    #[getter]
    fn sms(&self) -> u32 {
        self.clocked.sms()
    }

    /// Line size in bytes. A request stays within one line.
    #[getter]
    fn line_bytes(&self) -> u32 {
        self.clocked.line_bytes()
    }

    /// Core clock in MHz.
    #[getter]
    fn core_mhz(&self) -> u32 {
        self.core_mhz
    }

    /// Number of core cycles that have run.
    #[getter]
    fn cycle(&self) -> u64 {
        self.clocked.cycle()
    }

    /// True if no request, reply or dirty line is in flight.
    #[getter]
    fn is_idle(&self) -> bool {
        !self.clocked.is_busy()
    }

    /// Offers a request and returns whether it was accepted.
    ///
    /// It is not accepted if its SM's port of the crossbar has no room in this cycle. Any number of requests may be offered
    /// between two steps. `operation` is "read", "write" or "atomic". The reply returns `tag`.
    #[pyo3(signature = (address, bytes, *, sm=0, operation="read", tag=0))]
    fn offer(&mut self, address: u64, bytes: u32, sm: u32, operation: &str, tag: u64) -> PyResult<bool> {
        let Some((_, operation)) = OPERATIONS.into_iter().find(|(name, _)| *name == operation) else {
            return Err(invalid(format!("operation '{operation}': must be read, write or atomic")));
        };
        self.clocked.offer(&LineRequest { sm, operation, address, bytes, tag }).map_err(invalid)
    }

    /// Runs core cycles, and the cycles of the crossbar, the L2 and the DRAM that fall into them.
    #[pyo3(signature = (cycles=1))]
    fn step(&mut self, py: Python<'_>, cycles: u64) -> PyResult<()> {
        let mut left = cycles;
        while left > 0 {
            let count = left.min(SIGNAL_CYCLES);
            let clocked = SameThread(&mut self.clocked);
            let run = py.detach(move || clocked.run(count));
            run.map_err(|fault| exception(Failure::fault(fault)))?;
            left -= count;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Takes a reply that has arrived at an SM, or returns None.
    ///
    /// An SM receives at most one packet per core cycle. Other packets wait in the crossbar.
    #[pyo3(signature = (sm=0))]
    fn reply(&mut self, sm: u32) -> PyResult<Option<Reply>> {
        Ok(self.clocked.reply(sm).map_err(invalid)?.map(Reply::from))
    }

    /// Returns the current counters of crossbars, L2 and DRAM.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&self.clocked.stats()).map_err(invalid)?;
        py.import("selvedge")?.getattr("Statistics")?.call1((from_json(py, &text)?,))
    }
}
