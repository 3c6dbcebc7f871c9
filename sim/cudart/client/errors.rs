//! CUDA's errors: the last error of each thread, names and descriptions.
use crate::LAST_ERROR;
use std::ffi::{CStr, c_char};

/// Code, name and description.
const ERRORS: [(i32, &CStr, &CStr); 35] = [
    (0, c"cudaSuccess", c"no error"),
    (1, c"cudaErrorInvalidValue", c"invalid argument"),
    (2, c"cudaErrorMemoryAllocation", c"out of memory"),
    (3, c"cudaErrorInitializationError", c"initialization error"),
    (9, c"cudaErrorInvalidConfiguration", c"invalid configuration argument"),
    (12, c"cudaErrorInvalidPitchValue", c"invalid pitch argument"),
    (13, c"cudaErrorInvalidSymbol", c"invalid device symbol"),
    (17, c"cudaErrorInvalidDevicePointer", c"invalid device pointer"),
    (18, c"cudaErrorInvalidTexture", c"invalid texture reference"),
    (20, c"cudaErrorInvalidChannelDescriptor", c"invalid channel descriptor"),
    (21, c"cudaErrorInvalidMemcpyDirection", c"invalid copy direction for memcpy"),
    (35, c"cudaErrorInsufficientDriver", c"CUDA driver version is insufficient for CUDA runtime version"),
    (98, c"cudaErrorInvalidDeviceFunction", c"invalid device function"),
    (100, c"cudaErrorNoDevice", c"no CUDA-capable device is detected"),
    (101, c"cudaErrorInvalidDevice", c"invalid device ordinal"),
    (201, c"cudaErrorDeviceUninitialized", c"invalid device context"),
    (209, c"cudaErrorNoKernelImageForDevice", c"no kernel image is available for execution on the device"),
    (218, c"cudaErrorInvalidPtx", c"a PTX JIT compilation failed"),
    (301, c"cudaErrorFileNotFound", c"file not found"),
    (400, c"cudaErrorInvalidResourceHandle", c"invalid resource handle"),
    (401, c"cudaErrorIllegalState", c"the operation cannot be performed in the present state"),
    (500, c"cudaErrorSymbolNotFound", c"named symbol not found"),
    (600, c"cudaErrorNotReady", c"device not ready"),
    (700, c"cudaErrorIllegalAddress", c"an illegal memory access was encountered"),
    (701, c"cudaErrorLaunchOutOfResources", c"too many resources requested for launch"),
    (702, c"cudaErrorLaunchTimeout", c"the launch timed out and was terminated"),
    (710, c"cudaErrorAssert", c"device-side assert triggered"),
    (719, c"cudaErrorLaunchFailure", c"unspecified launch failure"),
    (720, c"cudaErrorCooperativeLaunchTooLarge", c"too many blocks in cooperative launch"),
    (801, c"cudaErrorNotSupported", c"operation not supported"),
    (901, c"cudaErrorStreamCaptureInvalidated", c"operation failed due to a previous error during capture"),
    (904, c"cudaErrorStreamCaptureUnjoined", c"capturing stream has unjoined work"),
    (910, c"cudaErrorGraphExecUpdateFailure", c"the graph update was not performed because it included changes which violated constraints specific to instantiated graph update"),
    (912, c"cudaErrorInvalidClusterSize", c"cluster misconfiguration"),
    (999, c"cudaErrorUnknown", c"unknown error"),
];

/// Returns the name of an error.
pub fn name(code: i32) -> &'static str {
    let found = ERRORS.iter().find(|(known, ..)| *known == code);
    found.and_then(|(_, name, _)| name.to_str().ok()).unwrap_or("an error without a name")
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> i32 {
    LAST_ERROR.with(|last| last.replace(0))
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> i32 {
    LAST_ERROR.with(std::cell::Cell::get)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(code: i32) -> *const c_char {
    let found = ERRORS.iter().find(|(known, ..)| *known == code);
    found.map_or(c"unrecognized error code", |(_, name, _)| name).as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn cudaGetErrorString(code: i32) -> *const c_char {
    let found = ERRORS.iter().find(|(known, ..)| *known == code);
    found.map_or(c"unrecognized error code", |(.., words)| words).as_ptr()
}
