//! Joins blocks into regions. Short branches become guards, as in assemblers.

use super::super::control_flow::BasicBlock;
use super::lean::{Lean, Mobility, RegisterUse};

/// Max instructions that a guard replaces a branch for.
const MOST_GUARDED: usize = 16;

/// Straight-line code, partly under guards.
pub(super) struct GuardedCode {
    pub steps: Vec<RegisterUse>,
    pub successors: Vec<usize>,
    /// `true`: it is a loop.
    pub repeats: bool,
    /// `true`: a pragma keeps the loop from unrolling.
    pub rolled: bool,
    /// `true`: a counter decides when the loop ends.
    pub counted: bool,
}

/// Joins blocks into the longest possible regions.
pub(super) fn join(lean: &Lean, blocks: &[BasicBlock]) -> Vec<GuardedCode> {
    let mut regions: Vec<Option<GuardedCode>> = blocks
        .iter()
        .map(|block| {
            let range = block.first as usize..block.end as usize;
            let steps = lean.steps[range.clone()]
                .iter()
                .filter(|step| step.kind != Mobility::Nothing)
                .cloned()
                .collect();
            let rolled = lean.rolled[range].iter().any(|rolled| *rolled);
            let counted =
                lean.counted[block.first as usize..block.end as usize].iter().any(|counted| *counted);
            Some(GuardedCode { steps, successors: block.successors.clone(), repeats: false, rolled, counted })
        })
        .collect();
    let mut entries = vec![0; blocks.len() + 1];
    skip_empty(&mut regions, &mut entries);
    let mut changed = true;
    while changed {
        changed = false;
        for at in 0..regions.len() {
            while grow(&mut regions, &mut entries, at) {
                changed = true;
            }
        }
    }
    let number = |(at, region): (usize, Option<GuardedCode>)| {
        let mut region = region?;
        region.repeats = region.successors.contains(&at);
        Some(region)
    };
    regions.into_iter().enumerate().filter_map(number).collect()
}

/// Redirects branches to empty blocks to the successors of those blocks.
fn skip_empty(regions: &mut [Option<GuardedCode>], entries: &mut [usize]) {
    let mut goes: Vec<usize> = (0..entries.len()).collect();
    for at in (1..regions.len()).rev() {
        if let Some(GuardedCode { steps, successors, .. }) = &regions[at]
            && let [next] = successors[..]
            && steps.is_empty()
            && goes[next] != at
        {
            goes[at] = goes[next];
            regions[at] = None;
        }
    }
    entries.fill(0);
    entries[0] = 1;
    for region in regions.iter_mut().flatten() {
        for successor in &mut region.successors {
            // Two lookups: `goes` of a block may be a later block that is redirected itself.
            *successor = goes[goes[*successor]];
            entries[*successor] += 1;
        }
    }
}

/// Appends a successor that has no other predecessor, or guarded blocks. Returns `false` if nothing can be appended.
fn grow(regions: &mut [Option<GuardedCode>], entries: &mut [usize], at: usize) -> bool {
    let Some(region) = &regions[at] else { return false };
    let mut successors = region.successors.clone();
    successors.sort_unstable();
    successors.dedup();
    match successors[..] {
        [next]
            if next != at && entries.get(next) == Some(&region.successors.len()) && next < regions.len() =>
        {
            let Some(next) = regions[next].take() else { return false };
            if let Some(region) = &mut regions[at] {
                region.steps.extend(next.steps);
                region.successors = next.successors;
                region.rolled |= next.rolled;
                region.counted = next.counted;
            }
            true
        }
        [first, second] => {
            let (first_to, second_to) =
                (guardable(regions, entries, at, first), guardable(regions, entries, at, second));
            let (guarded, next) = match (first_to, second_to) {
                (Some(a), Some(b)) if a == b => (vec![first, second], a),
                (Some(a), _) if a == second => (vec![first], second),
                (_, Some(b)) if b == first => (vec![second], first),
                _ => return false,
            };
            for from in guarded {
                let Some(taken) = regions[from].take() else { continue };
                entries[next] -= 1;
                if let Some(region) = &mut regions[at] {
                    // The branch is removed.
                    if region
                        .steps
                        .last()
                        .is_some_and(|step| step.kind == Mobility::Fixed && step.dests.is_empty())
                    {
                        region.steps.pop();
                    }
                    region.steps.extend(taken.steps);
                    region.rolled |= taken.rolled;
                }
            }
            entries[next] +=
                1 - usize::from(regions[at].as_ref().is_some_and(|r| r.successors.contains(&next)));
            if let Some(region) = &mut regions[at] {
                region.successors = vec![next];
            }
            true
        }
        _ => false,
    }
}

/// Returns the successor of region `at` if `before` can execute it under a guard.
fn guardable(regions: &[Option<GuardedCode>], entries: &[usize], before: usize, at: usize) -> Option<usize> {
    let region = regions.get(at)?.as_ref()?;
    let [next] = region.successors[..] else { return None };
    let plain =
        region.steps.iter().all(|step| step.kind != Mobility::Fixed) && region.steps.len() <= MOST_GUARDED;
    (plain && entries[at] == 1 && next != at && at != before && next < regions.len()).then_some(next)
}
