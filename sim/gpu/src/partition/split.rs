//! Requests that a slice has split into their sectors, with the number of unanswered parts of each.
//!
//! Every part is a separate request in the slice, and its reply leaves in a separate packet. The last reply is the reply to the
//! whole request at the SM. The replies before it are fragments, which take time in the crossbar and have no other effect.
//! Packets from one slice to one SM keep their order.
use crate::cache::{SECTOR_BYTES, Sectors};
use crate::packet::{Operations, Packet, PacketKind};
use crate::witness::Witness;
use selvedge_state::State;
use std::collections::VecDeque;

/// Bits of [`Packet::words`] in one sector.
const SECTOR_WORDS: u64 = (1 << (SECTOR_BYTES / 4)) - 1;

/// A request with unanswered parts.
#[derive(State)]
struct Split {
    whole: Packet,
    left: u32,
    /// Data identities for the witness, from the replies of the parts that have left.
    carried: u32,
}

/// The requests with unanswered parts. The token of a part is the index of its request here.
#[derive(State)]
pub struct Splits {
    sectors: Sectors,
    requests: Vec<Split>,
    free: Vec<u32>,
}

impl Splits {
    /// Returns an empty set of requests, whose lines are divided into `sectors`.
    pub fn new(sectors: Sectors) -> Self {
        Splits { sectors, requests: Vec::new(), free: Vec::new() }
    }

    /// Appends the parts of `whole` to `out` in ascending order of address.
    pub fn split(&mut self, whole: Packet, witness: &Witness, out: &mut VecDeque<Packet>) {
        let own = self.sectors.to_own(self.sectors.whole(whole.sectors));
        let parts = own.count_ones();
        let number = self.free.pop().unwrap_or(self.requests.len() as u32);
        let split = Split { whole, left: parts, carried: 0 };
        match self.requests.get_mut(number as usize) {
            Some(place) => *place = split,
            None => self.requests.push(split),
        }
        let mut left = whole;
        for place in (0..self.sectors.own_count()).filter(|place| own >> place & 1 == 1) {
            let sectors = self.sectors.from_own(1 << place) & whole.sectors;
            out.push_back(self.part(&whole, &mut left, sectors, parts, number, witness));
        }
        witness.not_stored(whole.witness);
    }

    /// Returns one part of a request. `left` holds the words and operations that no part has taken yet.
    fn part(
        &self,
        whole: &Packet,
        left: &mut Packet,
        sectors: u32,
        parts: u32,
        number: u32,
        witness: &Witness,
    ) -> Packet {
        let mask = (0..u64::BITS / 8).filter(|sector| sectors >> sector & 1 == 1);
        let words = mask.fold(0, |words, sector| words | SECTOR_WORDS << (sector * 8));
        let operations = take_operations(left, words);
        Packet {
            sectors,
            words: whole.words & words,
            operations,
            full_sectors: whole.full_sectors || whole.words & words == words,
            data_bytes: whole.data_bytes.div_ceil(parts as u16),
            token: number,
            witness: witness.part(whole.line, sectors, whole.witness),
            ..*whole
        }
    }

    /// Returns the packet that leaves for the reply to a part: a fragment, or with the last part the reply to the whole request.
    pub fn join(&mut self, answer: Packet, witness: &Witness) -> Packet {
        let number = answer.token;
        let split = &mut self.requests[number as usize];
        split.left -= 1;
        split.carried = witness.joined(split.carried, answer.witness);
        if split.left > 0 {
            return Packet { kind: PacketKind::Fragment, witness: 0, ..answer };
        }
        self.free.push(number);
        let Packet { sectors, words, operations, full_sectors, token, .. } = split.whole;
        Packet { sectors, words, operations, full_sectors, token, witness: split.carried, ..answer }
    }
}

/// Takes the operations on `words` from `left`. A packet does not count the operations per word, so that each word gets an equal
/// share.
fn take_operations(left: &mut Packet, words: u64) -> Operations {
    let share = u64::from((left.words & words).count_ones());
    let of = u64::from(left.words.count_ones()).max(1);
    let all = (u64::from(left.operations.all) * share).div_ceil(of) as u8;
    let taken = Operations { all, on_one_word: left.operations.on_one_word.min(all), ..left.operations };
    left.operations.all -= all;
    left.words &= !words;
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: PacketKind, sectors: u32, words: u64) -> Packet {
        Packet {
            kind,
            line: 0x1000,
            sectors,
            full_sectors: false,
            words,
            operations: Operations::default(),
            data_bytes: if kind == PacketKind::Read { 0 } else { words.count_ones() as u16 * 4 },
            sm: 3,
            slice: 0,
            kernel: 0,
            token: 77,
            payload: 0,
            witness: 0,
        }
    }

    #[test]
    fn the_last_part_answers_for_the_whole_request() {
        let mut splits = Splits::new(Sectors::new(128, 32));
        let mut parts = VecDeque::new();
        splits.split(request(PacketKind::Read, 0b1101, 0), &Witness::default(), &mut parts);
        let sectors: Vec<_> = parts.iter().map(|p| p.sectors).collect();
        assert_eq!(sectors, [0b0001, 0b0100, 0b1000]);
        let answer = |p: &Packet| Packet { kind: PacketKind::ReadReply, data_bytes: 32, ..*p };
        let left: Vec<_> =
            [1, 0, 2].map(|at: usize| splits.join(answer(&parts[at]), &Witness::default())).into();
        let kinds: Vec<_> = left.iter().map(|p| p.kind).collect();
        assert_eq!(kinds, [PacketKind::Fragment, PacketKind::Fragment, PacketKind::ReadReply]);
        assert_eq!((left[2].sectors, left[2].token, left[2].data_bytes), (0b1101, 77, 32));
        assert!(left.iter().all(Packet::is_reply));
    }

    #[test]
    fn the_parts_of_an_atomic_have_its_operations_together() {
        let mut splits = Splits::new(Sectors::new(128, 32));
        // 17 operations on one word of the first sector and two words of the last sector.
        let operations = Operations { all: 17, on_one_word: 9, returns: true };
        let whole = Packet { operations, ..request(PacketKind::Atomic, 0b1001, 0x0300_0001) };
        let mut parts = VecDeque::new();
        splits.split(whole, &Witness::default(), &mut parts);
        let of: Vec<_> =
            parts.iter().map(|p| (p.words, p.operations.all, p.operations.on_one_word)).collect();
        assert_eq!(of, [(1, 6, 6), (0x0300_0000, 11, 9)]);
    }

    #[test]
    fn a_part_is_full_where_the_store_covers_its_sector() {
        let mut splits = Splits::new(Sectors::new(128, 32));
        let mut parts = VecDeque::new();
        splits.split(request(PacketKind::Write, 0b11, 0x01ff), &Witness::default(), &mut parts);
        let covered: Vec<_> = parts.iter().map(|p| (p.words, p.full_sectors)).collect();
        assert_eq!(covered, [(0xff, true), (0x100, false)]);
    }

    #[test]
    fn a_number_is_used_again_when_its_request_is_answered() {
        let mut splits = Splits::new(Sectors::new(128, 32));
        for _ in 0..3 {
            let mut parts = VecDeque::new();
            splits.split(request(PacketKind::Read, 0b10, 0), &Witness::default(), &mut parts);
            assert_eq!(parts[0].token, 0);
            splits.join(parts[0], &Witness::default());
        }
    }
}
