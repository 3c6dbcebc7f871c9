//! System functions that kernels may call.

/// Function of the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemCall {
    /// `vprintf`
    Print,
    /// `malloc`
    Allocate,
    /// `free`
    Free,
    /// `__assertfail`
    Assert,
    /// `trap` and `brkpt`
    Trap,
    /// A system call of CUDA's device runtime.
    Runtime(RuntimeCall),
    /// A call through a pointer that matches no candidate function.
    NoFunction,
}

/// System call of CUDA's device runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuntimeCall {
    /// Allocates the parameters of a launch.
    ParameterBuffer,
    /// Launches a kernel.
    Launch,
    /// Creates a stream or an event.
    Create,
    /// Destroys a stream or an event.
    Destroy,
    /// Records an event.
    RecordEvent,
    /// Lets a stream wait for an event.
    AwaitEvent,
    /// Returns the last error.
    LastError,
    /// Sets the last error.
    SetLastError,
    /// Stores the number of the device.
    DeviceNumber,
    /// Stores the number of devices.
    DeviceCount,
}

/// A system function: its name, and the sizes in bytes of its parameters and of its result. A parameter of 12 bytes is a structure
/// of three words.
pub(crate) struct Signature {
    pub name: &'static str,
    pub call: SystemCall,
    pub parameters: &'static [u8],
    pub result: Option<u8>,
}

/// Function that allocates the parameters of a launch by a kernel. PTX without its name launches no kernels.
pub const PARAMETER_BUFFER: &str = "__cuda_syscall_cnpv2GetParameterBufferV2";

/// Returns a system call of CUDA's device runtime, whose result is an error code.
const fn runtime(name: &'static str, call: RuntimeCall, parameters: &'static [u8]) -> Signature {
    Signature { name, call: SystemCall::Runtime(call), parameters, result: Some(4) }
}

/// Returns the words of a parameter of `bytes` bytes: the offset and size of each, in bytes.
pub(crate) fn words(bytes: u8) -> impl Iterator<Item = (u8, u8)> {
    let word = if bytes == 12 { 4 } else { bytes };
    (0..bytes).step_by(word.into()).map(move |offset| (offset, word))
}

/// Function that a call through an unmatched pointer calls. Its blank prevents a declaration in PTX.
pub(crate) const NO_FUNCTION: &str = "no function";

/// Prefix of the opcode of a system call. PTX opcodes contain no blank, so no file can produce it.
pub(crate) const SYSTEM_CALL: &str = "call ";

/// All system functions that PTX may declare `.extern`.
pub(crate) const SIGNATURES: &[Signature] = &[
    Signature { name: "vprintf", call: SystemCall::Print, parameters: &[8, 8], result: Some(4) },
    Signature { name: "malloc", call: SystemCall::Allocate, parameters: &[8], result: Some(8) },
    Signature { name: "free", call: SystemCall::Free, parameters: &[8], result: None },
    Signature { name: "__assertfail", call: SystemCall::Assert, parameters: &[8, 8, 4, 8, 8], result: None },
    Signature { result: Some(8), ..runtime(PARAMETER_BUFFER, RuntimeCall::ParameterBuffer, &[8, 12, 12, 4]) },
    runtime("__cuda_syscall_cnpv2LaunchDeviceV2", RuntimeCall::Launch, &[8, 8]),
    runtime("__cuda_syscall_cnpv2StreamCreate", RuntimeCall::Create, &[8, 4]),
    runtime("__cuda_syscall_cnpv2StreamDestroy", RuntimeCall::Destroy, &[8]),
    runtime("__cuda_syscall_cnpv2StreamWaitEvent", RuntimeCall::AwaitEvent, &[8, 8, 4]),
    runtime("__cuda_syscall_cnpv2EventCreate", RuntimeCall::Create, &[8, 4]),
    runtime("__cuda_syscall_cnpv2EventRecord", RuntimeCall::RecordEvent, &[8, 8]),
    runtime("__cuda_syscall_cnpv2EventDestroy", RuntimeCall::Destroy, &[8]),
    runtime("__cuda_syscall_cnpv2GetLastError", RuntimeCall::LastError, &[]),
    runtime("__cuda_syscall_cnpv2SetLastError", RuntimeCall::SetLastError, &[4]),
    runtime("__cuda_syscall_cnpv2GetDevice", RuntimeCall::DeviceNumber, &[8]),
    runtime("__cuda_syscall_cnpv2GetDeviceCount", RuntimeCall::DeviceCount, &[8]),
    Signature { name: NO_FUNCTION, call: SystemCall::NoFunction, parameters: &[8], result: None },
];
