//! Is the RTL of every registered block, under every choice of its parameters, its golden model at the ports, and does its
//! stimulus reach the corner cases that the block names?
//!
//! The variable `SELVEDGE_BLOCK` restricts the walk to the blocks that it names, separated by commas.
use selvedge_blocks::BLOCKS;
use selvedge_hw::ports::first_difference;
use selvedge_hw::{Allowed, BlockEntry, Direction, Port};
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cycles per choice of parameters: each phase of traffic of the stimuli comes several times, and some resets.
const CYCLES: usize = 4000;
/// Choices of parameters up to which all are tried; beyond, those are that differ from the default in one.
const ALL_UP_TO: usize = 24;
/// Blocks under test at a time.
const WORKERS: usize = 2;
/// No stimulus may need more clocks for an operation.
const CLOCKS_PER_OPERATION: u64 = 1000;

fn blocks() -> Vec<&'static dyn BlockEntry> {
    let wanted = std::env::var("SELVEDGE_BLOCK").ok();
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|list| list.split(',').any(|one| one == name));
    BLOCKS.iter().copied().filter(|block| is_wanted(block.name())).collect()
}

/// Runs `test` on every block, some at a time.
fn each_block(test: impl Fn(&dyn BlockEntry) + Sync) {
    let (blocks, next) = (blocks(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(block) = blocks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(*block);
                }
            });
        }
    });
}

/// Every combination of the values that the schema allows, or the single changes where those are too many.
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
    if combinations.len() > ALL_UP_TO {
        let mut variants = block.variants();
        variants.push(block.defaults());
        return variants;
    }
    combinations.into_iter().map(Value::Object).filter(|params| block.check(params).is_ok()).collect()
}

#[test]
fn every_choice_of_parameters_gives_rtl_that_is_the_model() {
    each_block(|block| {
        for (seed, params) in choices(block).iter().enumerate() {
            assert_equivalent(block, params, seed as u64);
        }
    });
}

fn assert_equivalent(block: &dyn BlockEntry, params: &Value, seed: u64) {
    let name = block.name();
    let ports = block.ports(params).unwrap();
    let outputs: Vec<&Port> = ports.iter().filter(|p| p.direction == Direction::Output).collect();
    let (mut model, mut rtl) = (block.model(params).unwrap(), block.rtl(params).unwrap());
    let mut resets = 0;
    for (cycle, clock) in block.stimulus(params, seed).unwrap().take(CYCLES).enumerate() {
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

#[test]
fn every_corner_case_is_reached_in_the_full_count() {
    each_block(|block| {
        let params = block.defaults();
        let (mut model, mut corners) = (block.model(&params).unwrap(), block.corners(&params).unwrap());
        let mut clocks = 0;
        for clock in block.stimulus(&params, 1).unwrap() {
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
    });
}
