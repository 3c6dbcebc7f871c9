//! A cocotb testbench for a block's Verilog: a Python test, a Makefile, and the vectors that they read.
//!
//! The files need no other part of Selvedge, because the vectors file contains the golden model's outputs
//! ([`vector_file`](crate::vector_file)). The test finds the Verilog through the block's file list, `<module>.f`.

/// Text of the test. The word `BLOCK` in it is replaced by the module.
const TEST: &str = include_str!("cocotb/test.py");
/// Text of the Makefile, which is the same for every block.
const MAKEFILE: &str = include_str!("cocotb/Makefile");

/// Returns the names and texts of the files for a module, without the vectors.
pub fn files(module: &str) -> [(String, String); 2] {
    [(format!("test_{module}.py"), TEST.replace("BLOCK", module)), ("Makefile".into(), MAKEFILE.into())]
}
