//! A testbench for cocotb beside a block's Verilog: a test in Python, a Makefile, and the vectors that they read.
//!
//! The kit stands alone: the vectors file has the golden model's outputs ([`vector_file`](crate::vector_file)). The test finds the
//! Verilog by the file list of the block, `<module>.f`.

/// The test, in which the word `BLOCK` stands for the module.
const TEST: &str = include_str!("cocotb/test.py");
/// The same for every block.
const MAKEFILE: &str = include_str!("cocotb/Makefile");

/// Returns the names and texts of the files for a module, without the vectors.
pub fn files(module: &str) -> [(String, String); 2] {
    [(format!("test_{module}.py"), TEST.replace("BLOCK", module)), ("Makefile".into(), MAKEFILE.into())]
}
