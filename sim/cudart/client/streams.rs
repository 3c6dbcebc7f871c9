//! Streams, whose work runs in the order of the calls, and events in simulated time.
use crate::pointers::{put, put_if};
use crate::protocol::Call;
use crate::runtime::Runtime;
use crate::work::{HostWork, Work};
use crate::{Done, api, entry};
use std::ffi::{c_int, c_void};

/// CUDA's error code for an invalid handle.
pub const INVALID_HANDLE: i32 = 400;

/// An event, with the simulated time of its record in nanoseconds.
pub struct CudaEvent(Option<f64>);

/// Returns the simulated time in nanoseconds.
fn now(runtime: &mut Runtime) -> Done<f64> {
    Ok(f64::from_bits(runtime.connection.numbers(Call::Now, &[], &[], 1)?[0]))
}

/// Returns the event of a handle.
pub fn event<'a>(handle: *mut CudaEvent) -> Done<&'a mut CudaEvent> {
    // SAFETY: the program gives a handle that it got and has not given back, and calls are serialized.
    unsafe { handle.as_mut() }.ok_or(INVALID_HANDLE)
}

pub fn make_event(to: *mut *mut CudaEvent) -> Done {
    put(to, Box::into_raw(Box::new(CudaEvent(None))))
}

/// Creates a stream. It is only a distinct handle, without state.
pub fn make_stream(to: *mut *mut c_void) -> Done {
    put(to, Box::into_raw(Box::new(0u64)).cast())
}

pub fn elapsed(milliseconds: *mut f32, start: *mut CudaEvent, end: *mut CudaEvent) -> Done {
    let (start, end) = (event(start)?.0.ok_or(INVALID_HANDLE)?, event(end)?.0.ok_or(INVALID_HANDLE)?);
    put(milliseconds, ((end - start) / 1e6) as f32)
}

pub fn record(runtime: &mut Runtime, handle: *mut CudaEvent, stream: *mut c_void) -> Done {
    if runtime.graphs.record(handle.cast(), stream) {
        return Ok(());
    }
    event(handle)?.0 = Some(now(runtime)?);
    Ok(())
}

/// Lets a stream wait for an event, which has happened unless it belongs to a capture.
pub fn wait(runtime: &mut Runtime, stream: *mut c_void, handle: *mut CudaEvent) -> Done {
    event(handle)?;
    runtime.graphs.wait(handle.cast(), stream);
    Ok(())
}

pub fn end_event(handle: *mut CudaEvent) -> Done {
    event(handle)?;
    // SAFETY: `make_event` made it, and the program gives it back.
    drop(unsafe { Box::from_raw(handle) });
    Ok(())
}

pub fn end_stream(handle: *mut c_void) -> Done {
    if handle.is_null() {
        return Err(INVALID_HANDLE);
    }
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
    fn cudaEventSynchronize(handle: *mut CudaEvent) |_| event(handle).map(drop);
    fn cudaEventQuery(handle: *mut CudaEvent) |_| event(handle).map(drop);
    fn cudaEventElapsedTime(to: *mut f32, start: *mut CudaEvent, end: *mut CudaEvent) |_| elapsed(to, start, end);
    fn cudaEventElapsedTime_v2(to: *mut f32, start: *mut CudaEvent, end: *mut CudaEvent) |_| elapsed(to, start, end);
    fn cudaEventDestroy(handle: *mut CudaEvent) |_| end_event(handle);
    fn cudaStreamCreate(to: *mut *mut c_void) |_| make_stream(to);
    fn cudaStreamCreateWithFlags(to: *mut *mut c_void, _flags: u32) |_| make_stream(to);
    fn cudaStreamCreateWithPriority(to: *mut *mut c_void, _flags: u32, _priority: c_int) |_| make_stream(to);
    fn cudaStreamDestroy(handle: *mut c_void) |_| end_stream(handle);
    fn cudaStreamSynchronize(_stream: *mut c_void) |runtime| runtime.synchronize();
    fn cudaStreamQuery(_stream: *mut c_void) |runtime| runtime.synchronize();
    fn cudaStreamWaitEvent(stream: *mut c_void, handle: *mut CudaEvent, _flags: u32) |runtime| wait(runtime, stream, handle);
    fn cudaStreamGetFlags(_stream: *mut c_void, flags: *mut u32) |_| put(flags, 0);
    fn cudaStreamGetPriority(_stream: *mut c_void, priority: *mut c_int) |_| put(priority, 0);
    fn cudaDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) |_| {
        put_if(least, 0);
        put_if(greatest, 0);
        Ok(())
    };
    fn cudaDeviceSynchronize() |runtime| runtime.synchronize();
    fn cudaThreadSynchronize() |runtime| runtime.synchronize();
    fn cudaCtxResetPersistingL2Cache() |_| Ok(());
}

impl Runtime {
    /// Waits for all work. Work has already ended when its call returns, but this reports the error of a failed device again.
    pub fn synchronize(&mut self) -> Done {
        if self.modules.is_empty() { Ok(()) } else { now(self).map(drop) }
    }
}

/// A function of the program that runs after the previous work, which means immediately.
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
        if is_captured { runtime.graphs.capture(Work::Host(work)) } else { Ok(()) }
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
    let code = entry("cudaStreamAddCallback", Runtime::synchronize);
    // Called without the lock, because the function may take a long time.
    callback(stream, code, data);
    0
}
