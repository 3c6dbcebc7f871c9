//! Work that kernels request: launches, and the events that order them (CUDA's dynamic parallelism).
use selvedge_state::State;
use std::collections::BTreeMap;

/// First handle of a stream or event that a kernel creates. Smaller numbers are CUDA's special streams.
const FIRST_HANDLE: u64 = 16;

/// A launch that a program or a kernel requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct RequestedLaunch {
    /// Name of the kernel in its module.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads per block in x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster in x, y and z; `None`: as the kernel demands.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory per block.
    pub dynamic_shared: u32,
    /// Bytes of the parameters.
    pub params: Vec<u8>,
}

/// Work that a kernel requests.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub enum RequestedWork {
    /// Launches a kernel.
    Launch(RequestedLaunch),
    /// Records an event, by its handle.
    Record(u64),
    /// Lets the stream wait for the last record of an event, by its handle.
    Wait(u64),
}

/// A request of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct KernelRequest {
    /// Kernel slot of the requesting launch.
    pub slot: u8,
    /// Block of the requesting thread.
    pub cta: [u32; 3],
    /// Handle of the stream in the kernel; 0: the default stream of the block.
    pub stream: u64,
    /// The work.
    pub work: RequestedWork,
}

/// Requests of kernels that the host has not taken yet.
#[derive(Clone, Debug, Default, State)]
pub struct KernelRequests {
    /// `true`: a host takes the requests.
    #[state(skip = "an option")]
    accepted: bool,
    /// Launches whose parameters a kernel writes, by the address of the parameters.
    open: BTreeMap<u64, RequestedLaunch>,
    queued: Vec<KernelRequest>,
    /// Number of handles of streams and events.
    handles: u64,
    /// Last error of a call in any thread of the launch in a kernel slot, by its CUDA code.
    last_errors: BTreeMap<u8, u32>,
}

impl KernelRequests {
    /// Accepts requests from now on. The caller must take them.
    pub fn accept(&mut self) {
        self.accepted = true;
    }

    /// Returns whether a host takes the requests.
    pub(crate) fn is_accepted(&self) -> bool {
        self.accepted
    }

    /// Returns whether requests wait.
    #[inline]
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.queued.is_empty()
    }

    /// Returns the requests since the last call, in order.
    pub fn take(&mut self) -> Vec<KernelRequest> {
        std::mem::take(&mut self.queued)
    }

    /// Begins a launch in a kernel slot, without an error.
    pub fn begin(&mut self, slot: u8) {
        self.last_errors.remove(&slot);
    }

    /// Returns the last error of the launch in a kernel slot.
    pub(crate) fn last_error(&self, slot: u8) -> u32 {
        self.last_errors.get(&slot).copied().unwrap_or_default()
    }

    pub(crate) fn set_last_error(&mut self, slot: u8, code: u32) {
        self.last_errors.insert(slot, code);
    }

    /// Adds a request.
    pub fn push(&mut self, request: KernelRequest) {
        self.queued.push(request);
    }

    /// Adds a launch whose parameters a kernel writes to the buffer at `address`.
    pub(crate) fn open(&mut self, address: u64, launch: RequestedLaunch) {
        self.open.insert(address, launch);
    }

    /// Removes a launch by the address of its parameters.
    pub(crate) fn close(&mut self, address: u64) -> Option<RequestedLaunch> {
        self.open.remove(&address)
    }

    /// Returns a new handle of a stream or event.
    pub(crate) fn new_handle(&mut self) -> u64 {
        self.handles += 1;
        FIRST_HANDLE + self.handles
    }
}
