//! Executes PTX kernels for their values, without timing. [`ptx`] parses, decodes and executes. [`memory`] and
//! [`texture`] hold the data.
//!
//! ```
//! use selvedge_ptx::memory::DeviceMemory;
//! use selvedge_ptx::ptx::{Arg, LaunchDims, Module, run_functional};
//!
//! let text = "
//!     .version 4.3
//!     .target sm_20
//!     .address_size 64
//!     .visible .entry thread_numbers(.param .u64 out) {
//!         .reg .b32 %r<2>;
//!         .reg .b64 %rd<3>;
//!         ld.param.u64 %rd1, [out];
//!         mov.u32 %r1, %tid.x;
//!         mul.wide.u32 %rd2, %r1, 4;
//!         add.s64 %rd2, %rd1, %rd2;
//!         st.global.u32 [%rd2], %r1;
//!         ret;
//!     }";
//! let module = Module::parse_bytes("numbers.ptx", text.as_bytes())?;
//! let mut memory = DeviceMemory::new();
//! let out = memory.alloc(32 * 4, "out")?;
//! let kernel = &module.kernels()[0];
//! let arguments = kernel.pack(&[Arg::Ptr(out)])?;
//! run_functional(&module, kernel, &LaunchDims::new([1, 1, 1], [32, 1, 1]), &arguments, &mut memory)?;
//! assert_eq!(memory.read_u32s(out, 32)?, (0..32).collect::<Vec<_>>());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
pub mod clusters;
pub mod memory;
pub mod ptx;
pub mod requests;
pub mod tensor_map;
pub mod texture;
