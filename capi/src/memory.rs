//! The memory system (crossbar, L2 slices and DRAM) behind the caller's own SMs or L1Ds.
use crate::SelvedgeStatus;
use crate::call::{Failure, Guarded, call, free};
use crate::text::{is_null, read, write, write_json};
use selvedge_sim::clocked_memory::{ClockedMemory, LineReply, LineRequest, MemoryOperation};
use selvedge_sim::config::GpuConfig;
use std::ffi::c_char;

/// A memory system under its clocks.
pub struct SelvedgeMemory(Guarded<Memory>);

struct Memory {
    clocked: ClockedMemory,
    core_mhz: u32,
}

/// Reads bytes.
pub const SELVEDGE_READ: u32 = 0;
/// Writes bytes.
pub const SELVEDGE_WRITE: u32 = 1;
/// Reads and writes bytes at the L2.
pub const SELVEDGE_ATOMIC: u32 = 2;

/// Properties of the memory system that requests must respect.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SelvedgeMemoryShape {
    /// Number of SMs that can send requests.
    pub sms: u32,
    /// Line size, bytes. A request stays within one line.
    pub line_bytes: u32,
    /// Core clock, MHz.
    pub core_mhz: u32,
}

/// A request to the memory system. It carries no data: the caller keeps the values of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SelvedgeRequest {
    /// Address of the first byte.
    pub address: u64,
    /// Token of the caller, returned in the reply.
    pub tag: u64,
    /// Number of bytes, all in one line.
    pub bytes: u32,
    /// SM that sends the request, from 0.
    pub sm: u32,
    /// SELVEDGE_READ, SELVEDGE_WRITE or SELVEDGE_ATOMIC.
    pub operation: u32,
}

/// The reply to a request.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct SelvedgeReply {
    /// The request.
    pub request: SelvedgeRequest,
    /// Core cycle in which the request was taken.
    pub sent: u64,
    /// Core cycle in which this reply was received.
    pub received: u64,
}

impl SelvedgeRequest {
    fn checked(&self) -> Result<LineRequest, Failure> {
        let operation = match self.operation {
            SELVEDGE_READ => MemoryOperation::Read,
            SELVEDGE_WRITE => MemoryOperation::Write,
            SELVEDGE_ATOMIC => MemoryOperation::Atomic,
            other => {
                return Err(Failure::invalid(format!(
                    "operation {other}: must be {SELVEDGE_READ} (read), {SELVEDGE_WRITE} (write) or {SELVEDGE_ATOMIC} (atomic)"
                )));
            }
        };
        let Self { address, tag, bytes, sm, .. } = *self;
        Ok(LineRequest { sm, operation, address, bytes, tag })
    }
}

impl From<LineReply> for SelvedgeReply {
    fn from(reply: LineReply) -> Self {
        let LineReply { request: LineRequest { sm, operation, address, bytes, tag }, sent, received } = reply;
        let operation = match operation {
            MemoryOperation::Read => SELVEDGE_READ,
            MemoryOperation::Write => SELVEDGE_WRITE,
            MemoryOperation::Atomic => SELVEDGE_ATOMIC,
        };
        let request = SelvedgeRequest { address, tag, bytes, sm, operation };
        SelvedgeReply { request, sent, received }
    }
}

/// Creates an idle memory system with empty caches, in core cycle 0. `configuration` is the name of a built-in
/// configuration or the path of a file. The caller frees the memory system.
///
/// # Safety
/// `configuration` is a text or null; `memory` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_new(
    configuration: *const c_char,
    memory: *mut *mut SelvedgeMemory,
) -> SelvedgeStatus {
    call(|| {
        if memory.is_null() {
            return Err(is_null("memory"));
        }
        // SAFETY: the caller's promise.
        let name = unsafe { read("configuration", configuration)? };
        let config = GpuConfig::load(name).map_err(Failure::invalid)?;
        let made = Memory { clocked: ClockedMemory::new(&config), core_mhz: config.clock.core_mhz };
        let made = SelvedgeMemory(Guarded::new(made));
        // SAFETY: the caller's promise.
        unsafe { write("memory", memory, Box::into_raw(Box::new(made))) }
    })
}

/// Frees a memory system. Null is ignored.
///
/// # Safety
/// `memory` is null, or a memory system that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_free(memory: *mut SelvedgeMemory) {
    // SAFETY: the caller's promise.
    unsafe { free(memory) }
}

/// Writes the properties that requests must respect.
///
/// # Safety
/// `memory` is null or a memory system that no other thread uses; `shape` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_shape(
    memory: *mut SelvedgeMemory,
    shape: *mut SelvedgeMemoryShape,
) -> SelvedgeStatus {
    with!(memory, |memory| {
        let (sms, line_bytes) = (memory.clocked.sms(), memory.clocked.line_bytes());
        // SAFETY: the caller's promise.
        unsafe { write("shape", shape, SelvedgeMemoryShape { sms, line_bytes, core_mhz: memory.core_mhz }) }
    })
}

/// Offers a request and writes whether it was taken. It is not taken if its SM's port of the crossbar has no room in this
/// cycle. Any number of requests may be offered between two steps.
///
/// # Safety
/// `memory` is null or a memory system that no other thread uses; `request` is null or a request; `is_taken` is null or a place for
/// the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_offer(
    memory: *mut SelvedgeMemory,
    request: *const SelvedgeRequest,
    is_taken: *mut bool,
) -> SelvedgeStatus {
    with!(memory, |memory| {
        if is_taken.is_null() {
            return Err(is_null("is_taken"));
        }
        // SAFETY: the caller's promise.
        let request = unsafe { request.as_ref() }.ok_or_else(|| is_null("request"))?.checked()?;
        let taken = memory.clocked.offer(&request).map_err(Failure::invalid)?;
        // SAFETY: the caller's promise.
        unsafe { write("is_taken", is_taken, taken) }
    })
}

/// Runs one core cycle, and the cycles of the crossbar, the L2 and the DRAM that fall into it.
///
/// # Safety
/// `memory` is null or a memory system that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_step(memory: *mut SelvedgeMemory) -> SelvedgeStatus {
    with!(memory, |memory| memory.clocked.tick().map_err(Failure::fault))
}

/// Takes a reply that has arrived at an SM, and writes whether there was one. An SM receives at most one packet per core
/// cycle; other packets wait in the crossbar.
///
/// # Safety
/// `memory` is null or a memory system that no other thread uses; `reply` and `is_there` are null or places for the results.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_reply(
    memory: *mut SelvedgeMemory,
    sm: u32,
    reply: *mut SelvedgeReply,
    is_there: *mut bool,
) -> SelvedgeStatus {
    with!(memory, |memory| {
        if reply.is_null() {
            return Err(is_null("reply"));
        }
        if is_there.is_null() {
            return Err(is_null("is_there"));
        }
        let taken = memory.clocked.reply(sm).map_err(Failure::invalid)?;
        // SAFETY: the caller's promise.
        unsafe { write("is_there", is_there, taken.is_some())? };
        match taken {
            // SAFETY: the caller's promise.
            Some(taken) => unsafe { write("reply", reply, taken.into()) },
            None => Ok(()),
        }
    })
}

/// Writes the number of core cycles that have run.
///
/// # Safety
/// `memory` is null or a memory system that no other thread uses; `cycle` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_cycle(
    memory: *mut SelvedgeMemory,
    cycle: *mut u64,
) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    with!(memory, |memory| unsafe { write("cycle", cycle, memory.clocked.cycle()) })
}

/// Writes whether no request, reply or dirty line is in flight.
///
/// # Safety
/// `memory` is null or a memory system that no other thread uses; `is_idle` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_is_idle(
    memory: *mut SelvedgeMemory,
    is_idle: *mut bool,
) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    with!(memory, |memory| unsafe { write("is_idle", is_idle, !memory.clocked.is_busy()) })
}

/// Writes the current counters of crossbars, L2 and DRAM as a JSON object. The caller frees the text.
///
/// # Safety
/// `memory` is null or a memory system that no other thread uses; `json` is null or a place for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn selvedge_memory_statistics(
    memory: *mut SelvedgeMemory,
    json: *mut *mut c_char,
) -> SelvedgeStatus {
    // SAFETY: the caller's promise.
    with!(memory, |memory| unsafe { write_json("json", json, &memory.clocked.stats()) })
}
