//! First-ready, first-come first-served: the oldest request to an open row goes first. Otherwise the oldest request of a bank
//! gets its row, unless a waiting request still hits the open row of the bank.
use super::super::queue::NextCommand;
use super::super::request::numbers;
use super::super::spec::NEVER;
use super::super::sub_rank::{CLOSED, SubRank};
use super::{Candidates, Decision};
use crate::config::MOST_BANKS;

/// Chooses a command for the requests of a queue.
#[inline]
pub fn choose(candidates: &Candidates) -> Decision {
    match candidates.ranks {
        [rank] if candidates.queue.has_places() => choose_by_places(candidates, rank),
        _ => choose_in_order(candidates),
    }
}

/// Chooses as [`choose_in_order`] does for a channel with one sub-rank, with the bit sets of the queue.
fn choose_by_places(candidates: &Candidates, rank: &SubRank) -> Decision {
    match candidates.queue.choose(rank, candidates.now, candidates.may_return) {
        NextCommand::Column(at) => Decision::Column(at),
        NextCommand::Activate(at) => Decision::Activate(at, 1),
        NextCommand::Precharge(at) => Decision::Precharge(at, 1),
        NextCommand::NotBefore(cycle) => Decision::Sleep(cycle),
    }
}

/// Goes through the queue from the oldest request on. A request may need a bank in each of several sub-ranks.
fn choose_in_order(candidates: &Candidates) -> Decision {
    let Candidates { queue, ranks, now, .. } = *candidates;
    // One bit per bank of each sub-rank: banks whose open row still has requests, and banks for which an older request needs
    // another row.
    let (mut used, mut claimed) = (0u64, 0u64);
    let mut rows = [0u16; MOST_BANKS as usize]; // each candidate claims at least one bank of a sub-rank
    let mut row_count = 0;
    let mut wake = NEVER;
    for (at, w) in queue.iter().enumerate() {
        if w.blockers > 0 || !w.chosen {
            continue;
        }
        let missing = candidates.missing(w);
        if missing == 0 {
            used |= w.bits(w.sub_ranks);
            let credit = candidates.has_credit(w);
            let from = candidates.column_from(w);
            if credit && from <= now {
                return Decision::Column(at);
            }
            wake = if credit { wake.min(from) } else { wake };
        } else if w.bits(missing) & !claimed != 0 {
            claimed |= w.bits(w.sub_ranks);
            rows[row_count] = at as u16;
            row_count += 1;
        }
    }
    claimed = 0;
    for at in rows[..row_count].iter().map(|at| *at as usize) {
        let w = &queue[at];
        let fresh = candidates.missing(w) & !(claimed >> w.place);
        claimed |= w.bits(w.sub_ranks);
        let wrong = numbers(fresh).filter(|n| ranks[*n].row(w.bank) != CLOSED);
        let wrong = wrong.fold(0, |bits, n| bits | 1 << n);
        let (decision, from) = if wrong == 0 {
            (Decision::Activate(at, fresh), candidates.latest(fresh, |rank| rank.activate_from(w.bank)))
        } else if used & w.bits(wrong) == 0 {
            (Decision::Precharge(at, wrong), candidates.latest(wrong, |rank| rank.precharge_from(w.bank)))
        } else {
            continue;
        };
        if from <= now {
            return decision;
        }
        wake = wake.min(from);
    }
    Decision::Sleep(wake)
}
