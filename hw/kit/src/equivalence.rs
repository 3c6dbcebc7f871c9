//! Equality of model and RTL under every choice of a block's parameters, and coverage of its corner cases.
//!
//! The environment variable `SELVEDGE_BLOCK` restricts the checks to the blocks that it names, separated by commas.
use crate::ports::first_difference;
use crate::rtl::reserved::reserved_name_of;
use crate::verify::Unverified;
use crate::{Allowed, BlockEntry, Direction, Port};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cycles for each choice of parameters. Each phase of a stimulus occurs several times, and some resets do.
const CYCLES: usize = 4000;
/// Max number of combinations of parameters that are all checked. Of more combinations, the checks use those that differ from
/// the defaults in one parameter.
const MAX_COMBINATIONS: usize = 24;
/// Blocks that are checked at the same time.
const WORKERS: usize = 2;
/// Max clocks that a stimulus may need for an operation.
const CLOCKS_PER_OPERATION: u64 = 1000;

/// Checks that the RTL has the outputs of the model in each cycle, for every choice of the blocks' parameters.
///
/// # Panics
/// The outputs differ, a stimulus has no reset, or the RTL has a name that is reserved in Verilog.
pub fn assert_rtl_is_model(blocks: &[&dyn BlockEntry]) {
    each(blocks, |block| {
        for (seed, params) in choices(block).iter().enumerate() {
            assert_equivalent(block, params, seed as u64);
        }
    });
}

/// Checks that the stimulus of each block reaches each corner case that the block names, within the block's operations.
///
/// # Panics
/// A corner case is not reached, a block names none, or a stimulus makes no progress.
pub fn assert_corners_are_reached(blocks: &[&dyn BlockEntry]) {
    each(blocks, assert_reached);
}

/// Calls `check` for every block that `SELVEDGE_BLOCK` admits, for some at the same time.
fn each(blocks: &[&dyn BlockEntry], check: impl Fn(&dyn BlockEntry) + Sync) {
    let wanted = std::env::var("SELVEDGE_BLOCK").ok();
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|list| list.split(',').any(|one| one == name));
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if is_wanted(block.name()) {
                        check(*block);
                    }
                }
            });
        }
    });
}

/// Returns every combination of the allowed values, or the variants and the defaults if there are too many combinations.
fn choices(block: &dyn BlockEntry) -> Vec<Value> {
    let mut combinations = vec![Map::new()];
    for spec in block.schema() {
        let values = match spec.allowed {
            Allowed::Range(low, high) if high - low < 8 => (low..=high).map(Value::from).collect(),
            other => other.samples(),
        };
        combinations = combinations
            .iter()
            .flat_map(|earlier| {
                values.iter().map(|value| {
                    let mut combination = earlier.clone();
                    combination.insert(spec.name.to_string(), value.clone());
                    combination
                })
            })
            .collect();
    }
    if combinations.len() > MAX_COMBINATIONS {
        let mut variants = block.variants();
        variants.push(block.defaults());
        return variants;
    }
    combinations.into_iter().map(Value::Object).filter(|params| block.check(params).is_ok()).collect()
}

fn assert_equivalent(block: &dyn BlockEntry, params: &Value, seed: u64) {
    let name = block.name();
    let elaborated = block.elaborate(params).expect("valid parameters");
    if let Some(reserved) = reserved_name_of(name, elaborated.as_ref()) {
        panic!("{}", Unverified::Reserved { block: name, name: reserved });
    }
    let ports = block.ports(params).expect("valid parameters");
    let outputs: Vec<&Port> = ports.iter().filter(|p| p.direction == Direction::Output).collect();
    let (mut model, mut rtl) =
        (block.model(params).expect("valid parameters"), block.rtl(params).expect("valid parameters"));
    let mut resets = 0;
    for (cycle, clock) in block.stimulus(params, seed).expect("valid parameters").take(CYCLES).enumerate() {
        if clock.reset {
            resets += 1;
            model.reset();
            rtl.reset();
            continue;
        }
        let (expected, seen) = (model.step(&clock.inputs), rtl.step(&clock.inputs));
        if let Some(at) = first_difference(outputs.iter().copied(), &expected, &seen) {
            let (port, expected, seen) = (outputs[at].name, &expected[at], &seen[at]);
            panic!(
                "{name} {params}: cycle {cycle}, port {port}: {expected:x?} in the model, {seen:x?} in the RTL"
            );
        }
    }
    assert!(resets > 0, "{name} {params}: never reset");
}

fn assert_reached(block: &dyn BlockEntry) {
    let params = block.defaults();
    let (mut model, mut corners) =
        (block.model(&params).expect("valid parameters"), block.corners(&params).expect("valid parameters"));
    let mut clocks = 0;
    for clock in block.stimulus(&params, 1).expect("valid parameters") {
        if corners.operations() == block.operations() {
            break;
        }
        clocks += 1;
        assert!(clocks < CLOCKS_PER_OPERATION * block.operations(), "{}: stuck", block.name());
        if clock.reset {
            model.reset();
            corners.reset();
        } else {
            let outputs = model.step(&clock.inputs);
            corners.clock(&clock.inputs, &outputs);
        }
    }
    let seen = corners.seen();
    println!("{}: {} operations in {clocks} clocks: {seen:?}", block.name(), block.operations());
    assert!(!seen.is_empty(), "{} names no corner case", block.name());
    for corner in seen {
        assert!(corner.times >= corner.demanded, "{}: {corner:?}", block.name());
    }
}
