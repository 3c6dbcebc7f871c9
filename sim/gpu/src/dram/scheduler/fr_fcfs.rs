//! First-ready, first-come first-served: the oldest request to an open row goes first. Otherwise the oldest request of a bank
//! gets its row, unless a waiting request still hits the open row of the bank.
use super::super::queue::Choice;
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
        [rank] => choose_in(candidates, rank),
        _ => choose_among_ranks(candidates),
    }
}

/// Chooses as [`choose_in`] does, with the bit sets of the queue.
fn choose_by_places(candidates: &Candidates, rank: &SubRank) -> Decision {
    match candidates.queue.choose(rank, candidates.now, candidates.may_return) {
        Choice::Column(at) => Decision::Column(at),
        Choice::Activate(at) => Decision::Activate(at, 1),
        Choice::Precharge(at) => Decision::Precharge(at, 1),
        Choice::NotBefore(cycle) => Decision::Sleep(cycle),
    }
}

/// Chooses as [`choose_among_ranks`] does for a channel with one sub-rank, in which a request needs one bank.
fn choose_in(candidates: &Candidates, rank: &SubRank) -> Decision {
    let Candidates { queue, now, .. } = *candidates;
    // Banks whose open row still has requests, and banks for which an older request needs another row.
    let (mut used, mut claimed) = (0u64, 0u64);
    let mut rows = [0u16; MOST_BANKS as usize];
    let mut row_count = 0;
    let mut wake = NEVER;
    for (at, w) in queue.iter().enumerate() {
        if w.blockers > 0 || !w.chosen {
            continue;
        }
        let bit = 1 << w.bank;
        if rank.row(w.bank) == w.row {
            used |= bit;
            if candidates.has_credit(w) {
                let from = rank.column_from(w.bank, w.request.access);
                if from <= now {
                    return Decision::Column(at);
                }
                wake = wake.min(from);
            }
        } else if claimed & bit == 0 {
            claimed |= bit;
            rows[row_count] = at as u16;
            row_count += 1;
        }
    }
    for at in rows[..row_count].iter().map(|at| usize::from(*at)) {
        let bank = queue[at].bank;
        let (decision, from) = if rank.row(bank) == CLOSED {
            (Decision::Activate(at, 1), rank.activate_from(bank))
        } else if used >> bank & 1 == 0 {
            (Decision::Precharge(at, 1), rank.precharge_from(bank))
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

/// Chooses as [`choose`] does for a channel with several sub-ranks. A request may need a bank in each of them.
fn choose_among_ranks(candidates: &Candidates) -> Decision {
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
