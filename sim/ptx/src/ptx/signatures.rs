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
    /// A call through a pointer that matches no candidate function.
    NoFunction,
}

/// A system function: its name, and the sizes in bytes of its parameters and of its result.
pub(crate) struct Signature {
    pub name: &'static str,
    pub call: SystemCall,
    pub parameters: &'static [u8],
    pub result: Option<u8>,
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
    Signature { name: NO_FUNCTION, call: SystemCall::NoFunction, parameters: &[8], result: None },
];
