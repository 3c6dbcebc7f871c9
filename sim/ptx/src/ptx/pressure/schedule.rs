//! Execution order of a block's instructions, and the registers that are live in it.

use super::super::control_flow::RegisterSet;
use super::super::forms::Space;
use super::allocate::count_straight;
use super::lean::{Mobility, RegisterUse, insert};
use super::region::GuardedCode;

/// Copies of an unrolled loop body, whose loads are issued together.
const COPIES: u32 = 4;
/// Max instructions of a loop body that is unrolled.
const MOST_COPIED: usize = 64;

fn contains(set: &RegisterSet, register: u32) -> bool {
    set[register as usize / 64] >> (register % 64) & 1 == 1
}

fn weight(set: &RegisterSet, weights: &[u8]) -> u32 {
    let mut total = 0;
    for (word, &bits) in set.iter().enumerate() {
        let mut left = bits;
        while left != 0 {
            total += u32::from(weights[word * 64 + left.trailing_zeros() as usize]);
            left &= left - 1;
        }
    }
    total
}

/// Returns the max weight of live registers in the instructions. The registers in `out` are live after them.
pub(super) fn most(steps: &[RegisterUse], out: &RegisterSet, weights: &[u8]) -> u32 {
    let mut live = out.clone();
    let mut now = weight(&live, weights);
    let mut most = now;
    for step in steps.iter().rev() {
        if step.kind == Mobility::Nothing {
            continue;
        }
        let weigh = |d: &u32| u32::from(weights[*d as usize]);
        let dead: u32 = step.dests.iter().filter(|d| !contains(&live, **d)).map(weigh).sum();
        now += dead;
        step.dests.iter().for_each(|d| insert(&mut live, *d));
        let results: u32 = step.dests.iter().map(weigh).sum();
        most = most.max(now).max(now - results + step.extra.max(results));
        if step.apart {
            let mut both = live.clone();
            step.sources.iter().for_each(|s| insert(&mut both, *s));
            most = most.max(weight(&both, weights));
        }
        step.step_back(&mut live);
        now = weight(&live, weights);
        most = most.max(now);
    }
    most
}

/// Counts as [`most`] does, with each load issued as soon as its address is known. The body of a loop is unrolled.
pub(super) fn early(region: GuardedCode, out: &RegisterSet, weights: &[u8]) -> u32 {
    let steps = region.steps;
    let fixed = steps.iter().any(|step| step.kind == Mobility::Fixed && !step.dests.is_empty());
    if !region.repeats || region.rolled || !region.counted || steps.len() > MOST_COPIED || fixed {
        return count_straight(&order(steps), out, weights);
    }
    let mut weights = weights.to_vec();
    let copied = copy(&steps, &mut weights);
    let mut out = out.clone();
    out.resize(weights.len().div_ceil(64), 0);
    count_straight(&order(copied), &out, &weights)
}

/// Returns consecutive copies of a loop body. Each copy except the last has its own results.
fn copy(steps: &[RegisterUse], weights: &mut Vec<u8>) -> Vec<RegisterUse> {
    let mut names: std::collections::HashMap<u32, u32> = std::collections::HashMap::new();
    let mut out = Vec::with_capacity(steps.len() * COPIES as usize);
    for turn in 0..COPIES {
        let last = turn + 1 == COPIES;
        for step in steps {
            // Unrolling removes branches. Steps of addresses and counters become offsets.
            if !last && (step.kind == Mobility::Fixed || step.steps_up) {
                continue;
            }
            let mut step = step.clone();
            for source in &mut step.sources {
                *source = names.get(source).copied().unwrap_or(*source);
            }
            for dest in &mut step.dests {
                if last {
                    names.remove(dest);
                } else {
                    weights.push(weights[*dest as usize]);
                    let name = weights.len() as u32 - 1;
                    names.insert(*dest, name);
                    *dest = name;
                }
            }
            out.push(step);
        }
    }
    out
}

/// Orders instructions: loads and the computation of their addresses first, then instructions that wait for loads.
fn order(steps: Vec<RegisterUse>) -> Vec<RegisterUse> {
    use std::collections::HashMap;
    let length = steps.len();
    // Number of dependent loads in sequence before each instruction's operands.
    let mut level = vec![0u32; length];
    let mut feeds = vec![false; length];
    let mut written: HashMap<u32, usize> = HashMap::new();
    let mut inputs: Vec<Vec<usize>> = Vec::with_capacity(length);
    let (mut effects, mut highest) = (0, 0);
    let mut stores: HashMap<Space, u32> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        let mut from: Vec<usize> = step.sources.iter().filter_map(|s| written.get(s).copied()).collect();
        if !step.replaces {
            from.extend(step.dests.iter().filter_map(|d| written.get(d).copied()));
        }
        let loaded = |i: &usize| level[*i] + u32::from(matches!(steps[*i].kind, Mobility::Load(_)));
        let mut mine = from.iter().map(loaded).max().unwrap_or(0);
        match step.kind {
            Mobility::Load(space) => {
                let behind = stores.get(&space).into_iter().chain(stores.get(&Space::Generic)).max();
                mine = mine.max(behind.copied().unwrap_or(0));
            }
            Mobility::Store(space) => {
                mine = mine.max(effects);
                effects = mine;
                stores.insert(space, mine + 1);
            }
            Mobility::Fixed => {
                mine = mine.max(highest).max(effects) + 1;
                effects = mine;
                for space in [Space::Global, Space::Shared, Space::Local, Space::Generic, Space::Const] {
                    stores.insert(space, mine + 1);
                }
            }
            _ => {}
        }
        level[at] = mine;
        highest = highest.max(mine);
        step.dests.iter().for_each(|d| {
            written.insert(*d, at);
        });
        inputs.push(from);
    }
    for at in (0..length).rev() {
        if feeds[at] || matches!(steps[at].kind, Mobility::Load(_)) {
            inputs[at].iter().for_each(|i| feeds[*i] = true);
        }
    }
    let mut order: Vec<usize> = (0..length).collect();
    let class = |at: usize| match steps[at].kind {
        Mobility::Load(_) => 1,
        Mobility::Pure => 0,
        _ => 2,
    };
    order.sort_by_key(|at| (level[*at], class(*at)));
    let mut steps: Vec<Option<RegisterUse>> = steps.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| steps[at].take()).collect()
}
