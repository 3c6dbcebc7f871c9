//! First-come first-served: the oldest request is served alone.
use super::super::request::{QueuedRequest, numbers};
use super::super::spec::NEVER;
use super::super::sub_rank::CLOSED;
use super::{Candidates, Decision};

/// Chooses a command for the oldest request that does not wait for another one.
pub fn choose(candidates: &Candidates) -> Decision {
    let is_free = |w: &QueuedRequest| w.blockers == 0 && w.chosen;
    candidates.queue.iter().position(is_free).map_or(Decision::Sleep(NEVER), |at| serve(candidates, at))
}

/// Chooses a command for the request at position `at`.
pub fn serve(candidates: &Candidates, at: usize) -> Decision {
    let w = &candidates.queue[at];
    let missing = candidates.missing(w);
    let wrong = numbers(missing).filter(|n| candidates.ranks[*n].row(w.bank) != CLOSED);
    let wrong = wrong.fold(0, |bits, n| bits | 1 << n);
    let (decision, from) = if missing == 0 {
        if !candidates.has_credit(w) {
            return Decision::Sleep(NEVER);
        }
        (Decision::Column(at), candidates.column_from(w))
    } else if wrong == 0 {
        (Decision::Activate(at, missing), candidates.latest(missing, |rank| rank.activate_from(w.bank)))
    } else {
        (Decision::Precharge(at, wrong), candidates.latest(wrong, |rank| rank.precharge_from(w.bank)))
    };
    if from <= candidates.now { decision } else { Decision::Sleep(from) }
}
