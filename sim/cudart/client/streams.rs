//! Streams, whose work the simulator queues, and events in simulated time.
//!
//! Without a stream that the program has created, each call waits for its work. Otherwise the work of a stream is queued, and the
//! simulator begins it in simulated time. The host program itself takes no simulated time.
use crate::copies::HostRows;
use crate::kernels::print;
use crate::pointers::{put, put_if};
use crate::protocol::{Call, error, sync};
use crate::runtime::Runtime;
use crate::work::{HostWork, Work};
use crate::{Done, api, entry};
use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of the default stream.
const DEFAULT: u64 = 0;
/// Handles of the default stream, and of the default stream of a host thread.
const LEGACY_HANDLE: usize = 1;
const PER_THREAD_HANDLE: usize = 2;
/// Flag of a stream that does not wait for the default stream.
const NON_BLOCKING: u32 = 1;

/// Number of the highest priority. CUDA's priorities are negative.
const MOST_PRIORITY: c_int = 5;

/// A stream that the program has created.
#[derive(Clone, Copy, Default)]
struct CreatedStream {
    /// Odd if the stream does not wait for the default stream.
    number: u64,
    flags: u32,
    /// CUDA's priority.
    priority: c_int,
}

/// The streams of the program.
#[derive(Default)]
pub struct StreamHandles {
    /// The streams by handle.
    handles: BTreeMap<usize, CreatedStream>,
    /// Number of streams that were created.
    created: u64,
    /// `true` if work may be queued.
    pub has_queued: bool,
    /// Destinations of reads that are queued, by ticket.
    pub reads: BTreeMap<u64, HostRows>,
    /// Ticket of the last read.
    pub last_ticket: u64,
    /// Sizes of pinned host memory in bytes, by address.
    pub pinned: BTreeMap<usize, usize>,
}

impl StreamHandles {
    /// Returns the number of a new stream.
    pub fn number(&mut self, is_non_blocking: bool) -> u64 {
        self.created += 1;
        2 * self.created + u64::from(is_non_blocking)
    }

    /// Returns whether `size` bytes of host memory are pinned.
    pub fn is_pinned(&self, address: usize, size: usize) -> bool {
        let found = self.pinned.range(..=address).next_back();
        found.is_some_and(|(start, bytes)| size <= bytes.saturating_sub(address - start))
    }
}

/// Number of the last event.
static LAST_EVENT: AtomicU64 = AtomicU64::new(0);

/// An event, with its number.
pub struct CudaEvent(u64);

impl CudaEvent {
    /// Returns the simulated time of the last record in nanoseconds.
    fn time(&self, runtime: &mut Runtime) -> Done<f64> {
        Ok(f64::from_bits(runtime.connection.numbers(Call::EventTime, &[self.0], &[], 1)?[0]))
    }
}

/// Returns the event of a handle.
pub fn event<'a>(handle: *mut CudaEvent) -> Done<&'a mut CudaEvent> {
    // SAFETY: the program gives a handle that it got and has not given back, and calls are serialized.
    unsafe { handle.as_mut() }.ok_or(error::INVALID_HANDLE)
}

/// Returns the first of `count` numbers for new events.
pub fn new_events(count: u64) -> u64 {
    LAST_EVENT.fetch_add(count, Ordering::Relaxed) + 1
}

pub fn make_event(to: *mut *mut CudaEvent) -> Done {
    put(to, Box::into_raw(Box::new(CudaEvent(new_events(1)))))
}

/// Creates a stream.
pub fn make_stream(runtime: &mut Runtime, to: *mut *mut c_void, flags: u32, priority: c_int) -> Done {
    let handle = Box::into_raw(Box::new(0u64)).cast::<c_void>();
    let number = runtime.streams.number(flags & NON_BLOCKING != 0);
    let priority = priority.clamp(-MOST_PRIORITY, 0);
    runtime.streams.handles.insert(handle as usize, CreatedStream { number, flags, priority });
    put(to, handle)?;
    if priority == 0 {
        return Ok(());
    }
    let words = [u64::from(priority.unsigned_abs())];
    let queue = runtime.queue(handle)?;
    runtime.on_queue(queue, |runtime| runtime.connection.call(Call::Priority, &words, &[]).map(drop))
}

/// Stores the lowest and the highest priority of streams.
pub fn priorities(least: *mut c_int, greatest: *mut c_int) -> Done {
    put_if(least, 0);
    put_if(greatest, -MOST_PRIORITY);
    Ok(())
}

pub fn elapsed(
    runtime: &mut Runtime,
    milliseconds: *mut f32,
    start: *mut CudaEvent,
    end: *mut CudaEvent,
) -> Done {
    let (start, end) = (event(start)?.time(runtime)?, event(end)?.time(runtime)?);
    put(milliseconds, ((end - start) / 1e6) as f32)
}

pub fn record(runtime: &mut Runtime, handle: *mut CudaEvent, stream: *mut c_void) -> Done {
    if runtime.graphs.record(handle.cast(), stream) {
        return Ok(());
    }
    let number = event(handle)?.0;
    let queue = runtime.queue(stream)?;
    runtime.record_number(queue, number)
}

/// Lets a stream wait for an event.
pub fn wait(runtime: &mut Runtime, stream: *mut c_void, handle: *mut CudaEvent) -> Done {
    let number = event(handle)?.0;
    runtime.graphs.wait(handle.cast(), stream);
    if runtime.graphs.captures(stream) || !runtime.streams.has_queued {
        return Ok(());
    }
    let queue = runtime.queue(stream)?;
    runtime.await_number(queue, number)
}

/// Waits until an event has happened.
pub fn synchronize_event(runtime: &mut Runtime, handle: *mut CudaEvent) -> Done {
    let number = event(handle)?.0;
    runtime.wait_for(sync::EVENT, number)
}

pub fn end_event(runtime: &mut Runtime, handle: *mut CudaEvent) -> Done {
    event(handle)?;
    runtime.graphs.forget(handle.cast());
    // SAFETY: `make_event` made it, and the program gives it back.
    drop(unsafe { Box::from_raw(handle) });
    Ok(())
}

/// Destroys a stream. Its queued work continues.
pub fn end_stream(runtime: &mut Runtime, handle: *mut c_void) -> Done {
    runtime.streams.handles.remove(&(handle as usize)).ok_or(error::INVALID_HANDLE)?;
    // SAFETY: `make_stream` made it, and the program gives it back.
    drop(unsafe { Box::from_raw(handle.cast::<u64>()) });
    Ok(())
}

api! {
    fn cudaEventCreate(to: *mut *mut CudaEvent) |_| make_event(to);
    fn cudaEventCreateWithFlags(to: *mut *mut CudaEvent, _flags: u32) |_| make_event(to);
    fn cudaEventRecord(handle: *mut CudaEvent, stream: *mut c_void) |runtime| record(runtime, handle, stream);
    fn cudaEventRecordWithFlags(handle: *mut CudaEvent, stream: *mut c_void, _flags: u32) |runtime| {
        record(runtime, handle, stream)
    };
    fn cudaEventSynchronize(handle: *mut CudaEvent) |runtime| synchronize_event(runtime, handle);
    // The host takes no simulated time, so that a program that polls would never see the end of the work.
    fn cudaEventQuery(handle: *mut CudaEvent) |runtime| synchronize_event(runtime, handle);
    fn cudaEventElapsedTime(to: *mut f32, start: *mut CudaEvent, end: *mut CudaEvent) |runtime| {
        elapsed(runtime, to, start, end)
    };
    fn cudaEventElapsedTime_v2(to: *mut f32, start: *mut CudaEvent, end: *mut CudaEvent) |runtime| {
        elapsed(runtime, to, start, end)
    };
    fn cudaEventDestroy(handle: *mut CudaEvent) |runtime| end_event(runtime, handle);
    fn cudaStreamCreate(to: *mut *mut c_void) |runtime| make_stream(runtime, to, 0, 0);
    fn cudaStreamCreateWithFlags(to: *mut *mut c_void, flags: u32) |runtime| make_stream(runtime, to, flags, 0);
    fn cudaStreamCreateWithPriority(to: *mut *mut c_void, flags: u32, priority: c_int) |runtime| {
        make_stream(runtime, to, flags, priority)
    };
    fn cudaStreamDestroy(handle: *mut c_void) |runtime| end_stream(runtime, handle);
    fn cudaStreamSynchronize(stream: *mut c_void) |runtime| runtime.synchronize_stream(stream);
    fn cudaStreamQuery(stream: *mut c_void) |runtime| runtime.synchronize_stream(stream);
    fn cudaStreamWaitEvent(stream: *mut c_void, handle: *mut CudaEvent, _flags: u32) |runtime| wait(runtime, stream, handle);
    fn cudaStreamGetFlags(stream: *mut c_void, flags: *mut u32) |runtime| runtime.flags_of_stream(stream, flags);
    fn cudaStreamGetPriority(stream: *mut c_void, priority: *mut c_int) |runtime| {
        runtime.priority_of_stream(stream, priority)
    };
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) |_| priorities(least, greatest);
    fn cudaDeviceSynchronize() |runtime| runtime.synchronize();
    fn cudaThreadSynchronize() |runtime| runtime.synchronize();
    fn cudaCtxResetPersistingL2Cache() |_| Ok(());
}

impl Runtime {
    /// Returns the stream of a handle.
    fn created_stream(&self, stream: *mut c_void) -> Done<CreatedStream> {
        match stream as usize {
            0 | LEGACY_HANDLE | PER_THREAD_HANDLE => {
                Ok(CreatedStream { number: DEFAULT, ..CreatedStream::default() })
            }
            handle => self.streams.handles.get(&handle).copied().ok_or(error::INVALID_HANDLE),
        }
    }

    /// Stores the flags with which a stream was created.
    pub fn flags_of_stream(&self, stream: *mut c_void, flags: *mut u32) -> Done {
        put(flags, self.created_stream(stream)?.flags)
    }

    /// Stores the priority of a stream.
    pub fn priority_of_stream(&self, stream: *mut c_void, priority: *mut c_int) -> Done {
        put(priority, self.created_stream(stream)?.priority)
    }

    /// Returns the number of the stream to which work is added. `None`: the call waits for the work, because the program has created no
    /// stream, or shares memory with kernels, which each launch sends and fetches.
    pub fn queue(&self, stream: *mut c_void) -> Done<Option<u64>> {
        let number = self.created_stream(stream)?.number;
        Ok((self.streams.created > 0 && self.managed.is_empty()).then_some(number))
    }

    /// Adds the work that `add` sends to a stream, if its work is queued.
    pub fn on(&mut self, stream: *mut c_void, add: impl FnOnce(&mut Self) -> Done) -> Done {
        let queue = self.queue(stream)?;
        self.on_queue(queue, add)
    }

    /// Adds the work that `add` sends to the stream with this number. `None`: waits for the work.
    pub fn on_queue(&mut self, queue: Option<u64>, add: impl FnOnce(&mut Self) -> Done) -> Done {
        self.connection.stream = queue;
        let added = add(self);
        // `add` may have waited for all earlier work.
        self.streams.has_queued |= self.connection.stream.take().is_some();
        added
    }

    /// Records an event by its number.
    pub fn record_number(&mut self, queue: Option<u64>, event: u64) -> Done {
        self.on_queue(queue, |runtime| runtime.connection.call(Call::RecordEvent, &[event], &[]).map(drop))
    }

    /// Lets a stream wait for an event by its number.
    pub fn await_number(&mut self, queue: Option<u64>, event: u64) -> Done {
        self.on_queue(queue, |runtime| runtime.connection.call(Call::WaitEvent, &[event], &[]).map(drop))
    }

    /// Waits for the work of the default stream before a call that takes effect immediately.
    pub fn settle(&mut self) -> Done {
        if self.connection.stream.is_some() { Ok(()) } else { self.wait_for(sync::STREAM, DEFAULT) }
    }

    /// Waits for queued work, and takes the bytes that it has read.
    pub fn wait_for(&mut self, target: u64, number: u64) -> Done {
        if !self.streams.has_queued {
            return Ok(());
        }
        let reply = self.connection.call(Call::Synchronize, &[target, number], &[])?;
        print(&reply.bytes);
        for _ in 0..reply.words.first().copied().unwrap_or(0) {
            let read = self.connection.call(Call::TakeRead, &[], &[])?;
            let ticket = read.words.first().copied().unwrap_or(0);
            self.streams.reads.remove(&ticket).map_or(Ok(()), |rows| rows.put(&read.bytes))?;
        }
        self.streams.has_queued = target != sync::ALL;
        Ok(())
    }

    /// Waits for all work. Also reports the error of a failed device again.
    pub fn synchronize(&mut self) -> Done {
        self.wait_for(sync::ALL, 0)?;
        if self.modules.is_empty() { Ok(()) } else { self.connection.call(Call::Now, &[], &[]).map(drop) }
    }

    /// Waits for the work of a stream, as [`Runtime::synchronize`] for all work.
    pub fn synchronize_stream(&mut self, stream: *mut c_void) -> Done {
        let queue = self.queue(stream)?;
        self.synchronize_queue(queue)
    }

    /// Waits for the work of a stream by its number; `None`: for all work.
    pub fn synchronize_queue(&mut self, queue: Option<u64>) -> Done {
        match queue {
            Some(number) => self.wait_for(sync::STREAM, number),
            None => self.synchronize(),
        }
    }
}

/// A function of the program that runs after the previous work of its stream.
type HostFunction = extern "C" fn(*mut c_void);
type Callback = extern "C" fn(*mut c_void, c_int, *mut c_void);

#[unsafe(no_mangle)]
extern "C" fn cudaLaunchHostFunc(
    stream: *mut c_void,
    function: Option<HostFunction>,
    data: *mut c_void,
) -> i32 {
    let Some(function) = function else { return crate::protocol::error::INVALID_VALUE };
    let mut is_captured = false;
    let code = entry("cudaLaunchHostFunc", |runtime| {
        is_captured = runtime.graphs.captures(stream);
        let work = HostWork { function, data: data.expose_provenance() };
        if is_captured {
            runtime.graphs.capture(stream, Work::Host(work))
        } else {
            runtime.synchronize_stream(stream)
        }
    });
    if is_captured || code != 0 {
        return code;
    }
    // Called without the lock, because the function may take a long time.
    function(data);
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaStreamAddCallback(
    stream: *mut c_void,
    callback: Option<Callback>,
    data: *mut c_void,
    _flags: u32,
) -> i32 {
    let Some(callback) = callback else { return crate::protocol::error::INVALID_VALUE };
    let code = entry("cudaStreamAddCallback", |runtime| runtime.synchronize_stream(stream));
    // Called without the lock, because the function may take a long time.
    callback(stream, code, data);
    0
}
