//! Verification of a block by its own stimulus: model against RTL, and the corner cases reached.
use crate::block::HwBlock;
use crate::corners::Corner;
use crate::engine::{Divergence, Engine, Instance};
use crate::params::ParamError;
use crate::ports::Ports;
use std::fmt::Write;
use std::path::PathBuf;

/// Most clocks for an operation: a stimulus that needs more is stuck.
const CLOCKS_PER_OPERATION: u64 = 1000;

/// Why a block is not verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unverified {
    /// The parameters.
    #[error(transparent)]
    Parameters(#[from] ParamError),
    /// Model and RTL differ.
    #[error("{divergence}{ports}\nthe last cycles are in {}", vcd.display())]
    Differs {
        /// The difference.
        divergence: Box<Divergence>,
        /// A line for each port of the cycle: its name, and its value under the model and under the RTL.
        ports: String,
        /// A VCD file with the last cycles.
        vcd: PathBuf,
    },
    /// The stimulus does not reach a corner case as often as the block demands.
    #[error("{block}: corner case `{}` seen {} times, must be {}", corner.name, corner.times, corner.demanded)]
    Unreached {
        /// The block.
        block: &'static str,
        /// The corner case.
        corner: Corner,
    },
    /// The stimulus goes on without operations.
    #[error("{block}: {operations} operations in {clocks} clocks of its stimulus")]
    Stuck {
        /// The block.
        block: &'static str,
        /// Operations.
        operations: u64,
        /// Clocks.
        clocks: u64,
    },
}

/// Runs [`HwBlock::OPERATIONS`] of the block's stimulus through golden model and RTL, and checks that it reaches every corner
/// case. Leaves a VCD file in the folder for temporary files when the two differ.
///
/// # Errors
/// [`Unverified`].
pub fn verify<B: HwBlock>(params: &B::Params, seed: u64) -> Result<(), Unverified> {
    let mut instance = Instance::<B>::new(B::NAME, params, Engine::Lockstep)?;
    let mut corners = B::corners(params);
    let mut clocks = 0;
    for one in B::stimulus(params, seed) {
        if one.reset {
            instance.reset();
            corners.reset();
        } else {
            let outputs = instance
                .step(&one.inputs)
                .map_err(|difference| differs::<B>(difference, &one.inputs, params))?;
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

fn differs<B: HwBlock>(divergence: Box<Divergence>, inputs: &B::In, params: &B::Params) -> Unverified {
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
    // The difference itself is what matters.
    let _ = divergence.write_vcd(&vcd);
    Unverified::Differs { divergence, ports, vcd }
}
