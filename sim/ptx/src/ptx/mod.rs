//! PTX front end: parses PTX text, decodes it once, and executes it for 32 lanes per step, with real values.
//!
//! [`Module::parse`] rejects unsupported PTX with file and line; [`Module::find`] rejects each kernel separately. A
//! [`Kernel`] is immutable and shared. A [`Warp`] holds registers and the stack of diverged paths. [`Warp::step`]
//! executes one instruction completely: a timing model calls it at issue and then delays dependent instructions.
//! [`run_functional`] runs a whole grid without timing.
//!
//! Generic addresses below [`crate::memory::HEAP_BASE`] are windows onto the other state spaces.

mod access;
mod address_map;
mod alu;
mod args;
mod ast;
mod bits;
mod bulk;
mod control_flow;
mod convert;
mod decode;
mod device_runtime;
mod dynamic_stack;
mod error;
mod exchange;
mod expand;
mod float;
mod forms;
mod functional;
mod half;
mod inline;
mod instr;
mod kernel;
mod lane;
mod lane_ops;
mod launch;
mod lexer;
mod link;
mod matrix;
mod mbarrier;
mod memory_ops;
mod module;
mod parser;
mod pointer_uses;
mod pressure;
mod print;
mod promote;
mod rare_steps;
mod recursion;
mod recursive_calls;
mod region;
mod registers;
mod signatures;
mod small_float;
mod special;
mod spin;
mod step;
mod strand;
mod surface_ops;
mod system;
mod tensor;
#[cfg(test)]
mod tests;
mod texture_ops;
mod texture_uses;
mod video;
mod warp;
mod warp_group;
mod wmma;

pub use access::{AccessKind, Completion, Fault, MemAccess};
pub(crate) use address_map::FUNCTIONS_BASE;
pub use address_map::{
    CODE_REGION, CONST_REGION, CONST_WINDOW, GLOBALS_BASE, LOCAL_REGION, LOCAL_WINDOW, PARAM_REGION,
    PARAM_WINDOW, SHARED_WINDOW, WINDOW_BYTES,
};
pub use args::{Arg, ArgError};
pub use error::PtxError;
pub use float::{Rounding, half_to_single, to_half};
pub use forms::{AtomicOp, CacheOp, MOST_MATRIX_WORK, OpClass, Space};
pub use functional::{
    FunctionalError, FunctionalStats, run_cta, run_functional, run_kernel, run_limited, watch_functional,
};
pub use instr::Instr;
pub use kernel::{Kernel, KernelRegion, Param, ParamKind, RegionValue};
pub use launch::{Env, LaunchDims};
pub use link::{DEVICE_RUNTIME, link};
pub use module::{ConstantError, KernelError, Module, RefusedKernel};
pub use pointer_uses::PointerUse;
pub use signatures::PARAMETER_BUFFER;
pub use spin::{Spin, find as find_spin};
pub use texture_uses::{TextureSource, TextureUse};
pub use warp::{Ballot, Step, Warp};
