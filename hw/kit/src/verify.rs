//! Verification of a block by its stimulus: comparison of model and RTL, and the reached corner cases.
use crate::block::HwBlock;
use crate::corners::Corner;
use crate::engine::{Divergence, Engine, Instance, StepError};
use crate::params::ParamError;
use crate::ports::Ports;
use crate::rtl::reserved::reserved_name_of;
use std::fmt::Write;
use std::path::PathBuf;

/// Max clocks per operation. A stimulus that needs more makes no progress.
const CLOCKS_PER_OPERATION: u64 = 1000;

/// The reason for which a block is not verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unverified {
    /// The parameters are invalid.
    #[error(transparent)]
    Parameters(#[from] ParamError),
    /// The block or its RTL has a name that is reserved in Verilog.
    #[error("{block}: '{name}' is a reserved word of Verilog, SystemVerilog or C++: must be another name")]
    Reserved {
        /// The block's name.
        block: &'static str,
        /// The block, signal, memory or sub-block.
        name: String,
    },
    /// Model and RTL differ.
    #[error("{divergence}{ports}\nthe last cycles are in {}", vcd.display())]
    Differs {
        /// The difference.
        divergence: Box<Divergence>,
        /// A line for each port in the cycle: its name, and its value under the model and under the RTL.
        ports: String,
        /// A VCD file with the last cycles.
        vcd: PathBuf,
    },
    /// The stimulus reaches a corner case less often than the block demands.
    #[error("{block}: corner case '{}' seen {} times, must be {}", corner.name, corner.times, corner.demanded)]
    Unreached {
        /// The block's name.
        block: &'static str,
        /// The corner case.
        corner: Corner,
    },
    /// The stimulus makes no progress.
    #[error("{block}: {operations} operations in {clocks} clocks of its stimulus")]
    Stuck {
        /// The block's name.
        block: &'static str,
        /// Number of operations.
        operations: u64,
        /// Number of clocks.
        clocks: u64,
    },
}

/// Runs golden model and RTL over [`HwBlock::OPERATIONS`] operations of the block's stimulus. It checks that they agree, that
/// the stimulus reaches every corner case, and that Verilog can have all names. If model and RTL differ, it writes a VCD file
/// to the folder for temporary files.
///
/// # Errors
/// [`Unverified`].
pub fn verify<B: HwBlock>(params: &B::Params, seed: u64) -> Result<(), Unverified> {
    if let Some(name) = reserved_name_of(B::NAME, B::rtl(params)?.as_block()) {
        return Err(Unverified::Reserved { block: B::NAME, name });
    }
    let mut instance = Instance::<B>::new(B::NAME, params, Engine::Lockstep)?;
    let mut corners = B::corners(params);
    let mut clocks = 0;
    for one in B::stimulus(params, seed) {
        if one.reset {
            instance.reset();
            corners.reset();
        } else {
            let outputs =
                instance.step(&one.inputs).map_err(|error| differs::<B>(*error, &one.inputs, params))?;
            corners.clock(&one.inputs, &outputs);
        }
        clocks += 1;
        let operations = corners.operations();
        if operations >= B::OPERATIONS {
            break;
        }
        if clocks > CLOCKS_PER_OPERATION * (operations + 1) {
            return Err(Unverified::Stuck { block: B::NAME, operations, clocks });
        }
    }
    let unreached = corners.seen().into_iter().find(|corner| corner.times < corner.demanded);
    unreached.map_or(Ok(()), |corner| Err(Unverified::Unreached { block: B::NAME, corner }))
}

fn differs<B: HwBlock>(error: StepError, inputs: &B::In, params: &B::Params) -> Unverified {
    let StepError::Differs(divergence) = error else { unreachable!("neither model nor RTL ends") };
    let mut ports = String::new();
    let mut line = |name: &str, values: &[&Vec<u64>]| {
        let values: Vec<String> = values.iter().map(|words| crate::engine::hex(words)).collect();
        write!(ports, "\n  {name}: {}", values.join(" | ")).expect("a string takes it");
    };
    for (name, words) in B::In::NAMES.iter().zip(inputs.to_bits(params)) {
        line(name, &[&words]);
    }
    let last = |trace: usize| divergence.history.get(trace).and_then(|trace| trace.samples.last());
    if let (Some(model), Some(rtl)) = (last(0), last(1)) {
        let outputs = B::In::NAMES.len()..;
        for ((name, model), rtl) in
            B::Out::NAMES.iter().zip(&model.values[outputs.clone()]).zip(&rtl.values[outputs])
        {
            line(&format!("{name} (model | RTL)"), &[model, rtl]);
        }
    }
    let vcd = std::env::temp_dir().join(format!("divergence-{}.vcd", divergence.instance));
    // An error while writing the file must not hide the difference.
    let _ = divergence.write_vcd(&vcd);
    Unverified::Differs { divergence: Box::new(divergence), ports, vcd }
}
