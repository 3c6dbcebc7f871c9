//! Runs the self-checking testbench in Icarus Verilog.
use crate::emitted::Emitted;
use crate::testbench::Testbench;
use crate::tool::{IVERILOG, ToolError, VVP, write};
use std::path::Path;

/// The testbench did not pass.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IcarusError {
    /// Icarus Verilog is missing or refused the Verilog.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The block's Verilog differs from its golden model, or the testbench did not finish.
    #[error("{block}: the testbench did not pass in Icarus Verilog: {output}")]
    Failed {
        /// The block.
        block: String,
        /// The output of the testbench.
        output: String,
    },
}

/// Writes Verilog, testbench and vectors to `folder` and runs them there. Returns the number of vectors that passed.
///
/// # Errors
/// [`IcarusError`] if Icarus Verilog is missing or refuses the Verilog, if the folder cannot be used, or at the first
/// difference.
pub fn run(testbench: &Testbench, emitted: &Emitted, folder: &Path) -> Result<u64, IcarusError> {
    let files = emitted.write(folder)?;
    write(&folder.join(testbench.verilog_file()), &testbench.verilog)?;
    write(&folder.join(testbench.vectors_file()), &testbench.vectors)?;
    let program = format!("{}.vvp", testbench.module());
    let mut arguments: Vec<String> =
        ["-g2005", "-Wall", "-s", &testbench.module(), "-o", &program].map(String::from).to_vec();
    arguments.push(testbench.verilog_file());
    arguments.extend(files.iter().map(|file| file.display().to_string()));
    IVERILOG.run(folder, arguments)?;

    // -N makes $stop end the run with exit status 1.
    let output = VVP.output(folder, ["-N", &program])?;
    let text = String::from_utf8_lossy(&output.stdout);
    let passed =
        text.lines().find_map(|line| line.strip_prefix("PASS ")?.strip_suffix(" vectors")?.parse().ok());
    match passed {
        Some(vectors) if output.status.success() => Ok(vectors),
        _ => Err(IcarusError::Failed { block: testbench.block.clone(), output: text.trim_end().to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::{Accumulator, verilog};
    use crate::testbench;
    use crate::vectors::Vectors;
    use selvedge_gen::ResetStyle;
    use serde_json::Value;

    fn simulate(reset: ResetStyle, next: &str) -> Result<u64, IcarusError> {
        let testbench = testbench::write(&Accumulator, &Value::Null, 300, 9, reset).unwrap();
        run(&testbench, &verilog(reset, next), tempfile::tempdir().unwrap().path())
    }

    #[test]
    fn a_correct_block_passes_with_each_reset() {
        for reset in [ResetStyle::AsyncLow, ResetStyle::SyncHigh, ResetStyle::None] {
            assert_eq!(simulate(reset, "sum_q + addend_i").unwrap(), 300, "{reset:?}");
        }
    }

    #[test]
    fn a_wrong_block_fails_with_clock_port_and_values() {
        let mut vectors = Vectors::new(&Accumulator, &Value::Null, 9).unwrap();
        // The lowest bit is wrong from the first addition on; the output shows it one clock later.
        let first = vectors.position(|vector| vector.inputs[0][0] == 1).unwrap();
        let error = simulate(ResetStyle::AsyncLow, "(sum_q + addend_i) ^ 100'd1").unwrap_err().to_string();
        let wanted = format!("FAIL accumulator at clock {}: sum_o is ", first + 1);
        assert!(error.contains(&wanted), "{error}");
    }

    #[test]
    fn missing_vectors_do_not_pass() {
        let mut testbench =
            testbench::write(&Accumulator, &Value::Null, 10, 9, ResetStyle::AsyncLow).unwrap();
        let emitted = verilog(ResetStyle::AsyncLow, "sum_q + addend_i");
        let last = testbench.vectors.trim_end().rfind('\n').unwrap();
        testbench.vectors.truncate(last + 1);
        let error = run(&testbench, &emitted, tempfile::tempdir().unwrap().path()).unwrap_err().to_string();
        assert!(error.contains("accumulator_tb.hex is missing or short"), "{error}");
    }

    #[test]
    fn a_register_that_reset_does_not_reach_fails() {
        let mut emitted = verilog(ResetStyle::SyncHigh, "sum_q + addend_i");
        emitted.sources[0].text = emitted.sources[0].text.replace("sum_q <= 100'd0", "sum_q <= sum_q");
        let testbench = testbench::write(&Accumulator, &Value::Null, 10, 9, ResetStyle::SyncHigh).unwrap();
        let error = run(&testbench, &emitted, tempfile::tempdir().unwrap().path()).unwrap_err().to_string();
        assert!(error.contains("sum_o is xxx"), "{error}");
    }
}
