//! Is the RTL of every registered block, under every choice of its parameters, its golden model at the ports?
use selvedge_hw::{Allowed, BLOCKS, BlockEntry};
use serde_json::{Map, Value};

/// Cycles per choice of parameters: each phase of traffic of the stimuli comes several times, and some resets.
const CYCLES: usize = 4000;

/// Every combination of the values that the schema allows.
fn all_parameters(block: &dyn BlockEntry) -> Vec<Value> {
    let mut combinations = vec![Map::new()];
    for spec in block.schema() {
        let values: Vec<Value> = match spec.allowed {
            Allowed::Range(low, high) => (low..=high).map(Value::from).collect(),
            Allowed::OneOf(list) => list.iter().map(|value| Value::from(*value)).collect(),
            Allowed::Switch => vec![false.into(), true.into()],
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
    combinations.into_iter().map(Value::Object).collect()
}

fn assert_equivalent(name: &str) {
    let block = selvedge_hw::find(name).unwrap();
    for (seed, params) in all_parameters(block).iter().enumerate() {
        let ports = block.ports(params).unwrap();
        let outputs: Vec<_> =
            ports.iter().filter(|p| p.direction == selvedge_hw::Direction::Output).collect();
        let (mut model, mut rtl) = (block.model(params).unwrap(), block.rtl(params).unwrap());
        let mut resets = 0;
        for (cycle, clock) in block.stimulus(params, seed as u64).unwrap().take(CYCLES).enumerate() {
            if clock.reset {
                resets += 1;
                model.reset();
                rtl.reset();
                continue;
            }
            let (expected, seen) = (model.step(&clock.inputs), rtl.step(&clock.inputs));
            for (port, (expected, seen)) in outputs.iter().zip(expected.iter().zip(&seen)) {
                assert_eq!(expected, seen, "{name} {params}: cycle {cycle}, port {}", port.name);
            }
        }
        assert!(resets > 0, "{name} {params}: never reset");
    }
}

#[test]
fn every_registered_block_is_tested_here() {
    let names: Vec<&str> = BLOCKS.iter().map(|block| block.name()).collect();
    assert_eq!(names, ["bdi_compressor", "bdi_decompressor", "bgp", "milg"]);
}

#[test]
fn bdi_compressor() {
    assert_equivalent("bdi_compressor");
}

#[test]
fn bdi_decompressor() {
    assert_equivalent("bdi_decompressor");
}

#[test]
fn bgp() {
    assert_equivalent("bgp");
}

#[test]
fn milg() {
    assert_equivalent("milg");
}
