//! The coalescer, which merges a warp's lane addresses into the min number of line transactions.
use crate::cache::SECTOR_BYTES;
use crate::cache::sectors::MOST_SECTORS;
use crate::packet::Operations;
use selvedge_ptx::clusters::RANK_BYTES;
use selvedge_ptx::ptx::{AccessKind, CONST_REGION, MemAccess, PARAM_REGION, Space};
use selvedge_state::State;
use std::collections::BTreeSet;

/// The part of a memory instruction that touches one line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Transaction {
    /// Byte address of the line.
    pub line: u64,
    /// 32-byte sectors touched, one bit each.
    pub sectors: u32,
    /// Bytes touched, one bit each, sector by sector.
    pub bytes: [u32; MOST_SECTORS],
    /// Operations of an atomic on this line.
    pub operations: Operations,
}

/// Max number of 4-byte words in a shared-memory instruction: 32 lanes with 32 bytes each.
pub const MOST_BANK_WORDS: usize = 256;

/// Appends the transactions of `access` to `out`, in order of the first lane that touches each line.
///
/// The access of one lane cannot straddle two lines: it would have to be misaligned, which the executor rejects.
pub fn coalesce(access: &MemAccess, line_bytes: u32, out: &mut Vec<Transaction>) {
    let first = out.len();
    coalesce_lanes(access.mask, &access.address, access.bytes, line_bytes, first, out);
    for (mask, addresses) in &access.more {
        coalesce_lanes(*mask, addresses, access.bytes, line_bytes, first, out);
    }
}

/// Adds the lanes of `mask` to the transactions from `first` on.
fn coalesce_lanes(
    mask: u32,
    addresses: &[u64; 32],
    bytes: u8,
    line_bytes: u32,
    first: usize,
    out: &mut Vec<Transaction>,
) {
    if mask == u32::MAX && out.len() == first && is_run(addresses, bytes) {
        return coalesce_run(addresses[0], 32 * u32::from(bytes), line_bytes, out);
    }
    let line_mask = u64::from(line_bytes) - 1;
    if out.len() == first
        && bytes >= 4
        && bytes.is_power_of_two()
        && let Some(line) = only_line(mask, addresses, bytes, line_mask)
    {
        out.push(of_words(line, words_of(mask, addresses, bytes, line_mask)));
        return;
    }
    let lane_bytes = (1u64 << bytes) - 1;
    let mut lanes = mask;
    // `at` is the transaction of the previous lane, and `current` its line. 1 is no line address.
    let (mut at, mut current) = (0, 1);
    // Lines from this address on have no transaction yet, so that the search can be skipped.
    let mut beyond = out[first..].iter().map(|transaction| transaction.line + 1).max().unwrap_or(0);
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes - 1;
        let address = addresses[lane];
        let (line, offset) = (address & !line_mask, (address & line_mask) as u32);
        if line != current {
            current = line;
            let found = if line >= beyond { None } else { out[first..].iter().rposition(|t| t.line == line) };
            at = found.map_or(out.len(), |found| first + found);
            if at == out.len() {
                out.push(Transaction { line, ..Transaction::default() });
                beyond = beyond.max(line + 1);
            }
        }
        let transaction = &mut out[at];
        let (low, high) = (offset / SECTOR_BYTES, (offset + u32::from(bytes) - 1) / SECTOR_BYTES);
        let touched = lane_bytes << (offset % SECTOR_BYTES);
        transaction.bytes[low as usize % MOST_SECTORS] |= touched as u32;
        transaction.sectors |= 1 << low;
        if high > low {
            transaction.bytes[high as usize % MOST_SECTORS] |= (touched >> 32) as u32;
            transaction.sectors |= 1 << high;
        }
    }
}

/// Returns whether the lanes access adjacent elements of `bytes` bytes in lane order.
fn is_run(addresses: &[u64; 32], bytes: u8) -> bool {
    let expected = |lane: u64| addresses[0].wrapping_add(lane * u64::from(bytes));
    (0..).zip(addresses).fold(0, |wrong, (lane, address)| wrong | (address ^ expected(lane))) == 0
}

/// Returns the line that all lanes of `mask` access, if it is the same and each address is a multiple of `bytes`.
fn only_line(mask: u32, addresses: &[u64; 32], bytes: u8, line_mask: u64) -> Option<u64> {
    let line = addresses[mask.trailing_zeros() as usize % 32] & !line_mask;
    let other = (0..).zip(addresses).fold(0, |other, (lane, address)| {
        other | (address ^ line) & u64::from(mask >> lane & 1).wrapping_neg()
    });
    (mask != 0 && other & (!line_mask | (u64::from(bytes) - 1)) == 0).then_some(line)
}

/// Returns the 4-byte words of a line, one bit each, that the lanes of `mask` access. Each lane accesses whole words.
fn words_of(mask: u32, addresses: &[u64; 32], bytes: u8, line_mask: u64) -> u64 {
    let lane_words = (1u64 << (bytes / 4)) - 1;
    (0..).zip(addresses).fold(0, |words, (lane, address)| {
        let is_active = u64::from(mask >> lane & 1).wrapping_neg();
        words | (lane_words & is_active) << ((address & line_mask) / 4)
    })
}

/// Returns the transaction of the given words of a line.
fn of_words(line: u64, words: u64) -> Transaction {
    let mut transaction = Transaction { line, ..Transaction::default() };
    for (sector, bytes) in transaction.bytes.iter_mut().enumerate() {
        // Moves bit i of eight to bit 4i, and copies it to the three bits above.
        let bits = (words >> (8 * sector)) as u32 & 0xff;
        let bits = (bits | bits << 12) & 0x000f_000f;
        let bits = (bits | bits << 6) & 0x0303_0303;
        *bytes = 15 * ((bits | bits << 3) & 0x1111_1111);
        transaction.sectors |= u32::from(*bytes != 0) << sector;
    }
    transaction
}

/// Appends the transactions of `count` contiguous bytes.
fn coalesce_run(address: u64, count: u32, line_bytes: u32, out: &mut Vec<Transaction>) {
    let (mut from, end) = (address, address + u64::from(count));
    while from < end {
        let line = from & !(u64::from(line_bytes) - 1);
        let mut transaction = Transaction { line, ..Transaction::default() };
        let to = end.min(line + u64::from(line_bytes));
        while from < to {
            let offset = (from - line) as u32;
            let sector_end = to.min(line + u64::from(offset / SECTOR_BYTES + 1) * u64::from(SECTOR_BYTES));
            let touched = u32::MAX >> (SECTOR_BYTES - (sector_end - from) as u32);
            transaction.bytes[(offset / SECTOR_BYTES) as usize] = touched << (offset % SECTOR_BYTES);
            transaction.sectors |= 1 << (offset / SECTOR_BYTES);
            from = sector_end;
        }
        out.push(transaction);
    }
}

/// Splits each of `transactions` into one for each segment that it touches. A segment has 32 elements of `bytes` bytes. Only
/// elements of 1 or 2 bytes have segments. The segments of a line follow one another in order of address.
pub fn split_segments(bytes: u8, transactions: &mut Vec<Transaction>) {
    if !matches!(bytes, 1 | 2) {
        return;
    }
    let sectors = usize::from(bytes);
    for whole in std::mem::take(transactions) {
        for at in (0..MOST_SECTORS).step_by(sectors) {
            let mask = ((1 << sectors) - 1) << at;
            if whole.sectors & mask != 0 {
                let mut part =
                    Transaction { sectors: whole.sectors & mask, bytes: [0; MOST_SECTORS], ..whole };
                part.bytes[at..at + sectors].copy_from_slice(&whole.bytes[at..at + sectors]);
                transactions.push(part);
            }
        }
    }
}

/// Counts the operations of an atomic in its `transactions`, one for each lane.
pub fn count_operations(access: &MemAccess, line_bytes: u32, transactions: &mut [Transaction]) {
    let AccessKind::Atomic { reduction, .. } = access.kind else { return };
    let mut words = [0; 32];
    let mut lanes = 0;
    for lane in (0..32).filter(|lane| access.mask >> lane & 1 == 1) {
        words[lanes] = access.address[lane] / 4;
        lanes += 1;
    }
    words[..lanes].sort_unstable();
    for same in words[..lanes].chunk_by(|a, b| a == b) {
        let line = (same[0] * 4) & !(u64::from(line_bytes) - 1);
        let Some(transaction) = transactions.iter_mut().find(|transaction| transaction.line == line) else {
            continue;
        };
        let operations = &mut transaction.operations;
        operations.all += same.len() as u8;
        operations.on_one_word = operations.on_one_word.max(same.len() as u8);
        operations.returns = !reduction;
    }
}

impl Transaction {
    /// Returns the words of 4 bytes with any touched byte, one bit each.
    pub fn touched_words(&self) -> u64 {
        (0..).zip(&self.bytes).fold(0, |words, (sector, bytes)| {
            let bits = (0..8).fold(0, |bits, word| bits | u64::from(bytes >> (4 * word) & 15 != 0) << word);
            words | bits << (8 * sector)
        })
    }

    /// Returns whether every byte of every touched sector is covered.
    pub fn full_sectors(&self) -> bool {
        self.bytes.iter().all(|bytes| *bytes == 0 || *bytes == u32::MAX)
    }

    /// Returns the words of 4 bytes whose bytes are all touched, one bit each.
    pub fn words(&self) -> u64 {
        (0..).zip(&self.bytes).fold(0, |words, (sector, bytes)| {
            // Bit 4i of the AND of four shifts is set if bytes 4i to 4i + 3 are touched.
            let whole = bytes & bytes >> 1 & bytes >> 2 & bytes >> 3;
            let bits = (0..8).fold(0, |bits, word| bits | u64::from(whole >> (4 * word) & 1) << word);
            words | bits << (8 * sector)
        })
    }

    /// Returns the number of touched bytes.
    pub fn byte_count(&self) -> u32 {
        let count = |bytes: &u32| match *bytes {
            0 => 0,
            u32::MAX => SECTOR_BYTES,
            some => some.count_ones(),
        };
        self.bytes.iter().map(count).sum()
    }
}

/// Returns whether the active lanes access different banks. Each lane accesses one word. `banks` is a power of two, at most 64.
fn lanes_have_own_banks(access: &MemAccess, banks: u32) -> bool {
    let mut taken = 0u64;
    for (lane, address) in access.address.iter().enumerate() {
        taken |= u64::from(access.mask >> lane & 1) << ((address / 4) & u64::from(banks - 1));
    }
    taken.count_ones() == access.mask.count_ones()
}

/// Returns the cycles that a shared-memory access occupies the banks: the max number of 4-byte words that one bank must deliver.
/// Lanes that read or write the same word share its access. Lanes with atomics on the same word are serialized.
pub fn bank_conflict_degree(access: &MemAccess, banks: u32) -> u32 {
    if access.bytes <= 4 && lanes_have_own_banks(access, banks) {
        return 1;
    }
    let takes_turns = matches!(access.kind, AccessKind::Atomic { .. });
    let mut words = [0u64; MOST_BANK_WORDS];
    let mut count = 0;
    let mut lanes = access.mask;
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes - 1;
        let first = access.address[lane] / 4;
        let last = (access.address[lane] + u64::from(access.bytes) - 1) / 4;
        for word in first..=last {
            words[count] = word;
            count += 1;
        }
    }
    words[..count].sort_unstable();
    let mut per_bank = [0u32; 64];
    let mut degree = 0;
    for i in 0..count {
        if i > 0 && words[i] == words[i - 1] && !takes_turns {
            continue;
        }
        let bank = (words[i] % u64::from(banks)) as usize;
        per_bank[bank] += 1;
        degree = degree.max(per_bank[bank]);
    }
    degree.max(1)
}

/// Max segments of an access to the shared memory of other CTAs.
pub const MOST_SEGMENTS: u32 = 32;

/// Returns the number of segments of 32 bytes that an access uses in the shared memory of other CTAs of the cluster.
pub fn remote_segments(access: &MemAccess) -> u32 {
    let lanes = (0..32).filter(|lane| access.mask >> lane & 1 == 1);
    let remote = lanes.map(|lane| access.address[lane]).filter(|address| *address >= RANK_BYTES);
    remote.map(|address| address / u64::from(SECTOR_BYTES)).collect::<BTreeSet<_>>().len() as u32
}

/// Appends one transaction for each distinct address of a constant or parameter load, in the order of the lanes. The cache
/// delivers one address per cycle.
pub fn constant_transactions(access: &MemAccess, line_bytes: u32, out: &mut Vec<Transaction>) {
    let region = if access.space == Space::Param { PARAM_REGION } else { CONST_REGION };
    let mut lanes = access.mask;
    let mut seen: Vec<u64> = Vec::new();
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        lanes &= lanes - 1;
        let address = region + access.address[lane];
        if seen.contains(&address) {
            continue;
        }
        seen.push(address);
        let line = address & !u64::from(line_bytes - 1);
        let sector = ((address - line) / u64::from(SECTOR_BYTES)) as u32;
        out.push(Transaction { line, sectors: 1 << sector, ..Transaction::default() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use selvedge_ptx::ptx::AtomicOp;

    #[test]
    fn lanes_that_alternate_between_two_lines_make_two_transactions() {
        let mut access = MemAccess { bytes: 4, mask: 0b1111, ..MemAccess::default() };
        access.address[..4].copy_from_slice(&[0x1000, 0x1080, 0x1004, 0x1084]);
        let mut out = Vec::new();
        coalesce(&access, 128, &mut out);
        let lines: Vec<(u64, u32)> = out.iter().map(|t| (t.line, t.byte_count())).collect();
        assert_eq!(lines, [(0x1000, 8), (0x1080, 8)]);
    }

    #[test]
    fn bytes_that_no_word_begins_with_are_touched_as_they_are() {
        let mut access = MemAccess { bytes: 4, mask: 0b1, ..MemAccess::default() };
        access.address[0] = 0x1002;
        let mut out = Vec::new();
        coalesce(&access, 128, &mut out);
        assert_eq!((out.len(), out[0].bytes[0]), (1, 0b11_1100));
    }

    #[test]
    fn the_texels_of_a_filtered_texture_share_the_transactions_of_their_lines() {
        let mut access = MemAccess { bytes: 4, mask: 0b11, ..MemAccess::default() };
        access.address[..2].copy_from_slice(&[0x1000, 0x1004]);
        let mut right = [0; 32];
        right[..2].copy_from_slice(&[0x1004, 0x1080]);
        access.more = vec![(0b11, right)];
        let mut out = Vec::new();
        coalesce(&access, 128, &mut out);
        let lines: Vec<(u64, u32)> = out.iter().map(|t| (t.line, t.byte_count())).collect();
        assert_eq!(lines, [(0x1000, 8), (0x1080, 4)]);
    }

    #[test]
    fn a_segment_is_32_elements_and_a_line_at_most() {
        // One element in each quarter of a line.
        for (bytes, sectors) in [(1, vec![1, 2, 4, 8]), (2, vec![3, 12]), (4, vec![15]), (8, vec![15])] {
            let mut access = MemAccess { bytes, mask: 0b1111, ..MemAccess::default() };
            access.address[..4].copy_from_slice(&[0x1060, 0x1000, 0x1020, 0x1040]);
            let mut out = Vec::new();
            coalesce(&access, 128, &mut out);
            split_segments(bytes, &mut out);
            assert_eq!(out.iter().map(|t| t.sectors).collect::<Vec<_>>(), sectors, "{bytes} bytes");
            assert!(out.iter().all(|t| t.line == 0x1000));
            assert_eq!(out.iter().map(Transaction::byte_count).sum::<u32>(), 4 * u32::from(bytes));
        }
    }

    #[test]
    fn a_line_is_as_long_as_the_cache_says() {
        let mut access = MemAccess { bytes: 8, mask: u32::MAX, ..MemAccess::default() };
        (0..).zip(&mut access.address).for_each(|(lane, address)| *address = 0x1000 + lane * 8);
        for (line_bytes, sectors) in [(32, 0x1), (64, 0x3), (128, 0xf), (256, 0xff)] {
            let mut out = Vec::new();
            coalesce(&access, line_bytes, &mut out);
            assert_eq!(out.len() as u32, 256 / line_bytes);
            assert!(out.iter().all(|t| t.full_sectors() && t.byte_count() == line_bytes));
            assert!(out.iter().all(|t| t.sectors == sectors));
        }
        access.mask = !1;
        let mut out = Vec::new();
        coalesce(&access, 256, &mut out);
        assert_eq!(out[0].words(), u64::MAX << 2);
        assert_eq!((out[0].byte_count(), out[0].full_sectors()), (248, false));
    }

    proptest! {
        #[test]
        fn runs_and_other_lanes_make_the_transactions_of_their_bytes(
            base in 0u64..1 << 20, stride in 0u64..200, log in 0u32..4, mask: u32, whole: bool, line_log in 5u32..9,
        ) {
            let (bytes, line_bytes) = (1u64 << log, 1u64 << line_log);
            let stride = if whole { bytes } else { stride * bytes };
            let mask = if whole { u32::MAX } else { mask };
            let mut access = MemAccess { bytes: bytes as u8, mask, ..MemAccess::default() };
            (0..).zip(&mut access.address).for_each(|(lane, at)| *at = (base + lane * stride) / bytes * bytes);
            let mut out = Vec::new();
            coalesce(&access, line_bytes as u32, &mut out);
            let mut expected: Vec<(u64, BTreeSet<u64>)> = Vec::new();
            for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
                let line = access.address[lane] / line_bytes * line_bytes;
                let touched = access.address[lane]..access.address[lane] + bytes;
                match expected.iter_mut().find(|(other, _)| *other == line) {
                    Some((_, all)) => all.extend(touched),
                    None => expected.push((line, touched.collect())),
                }
            }
            let touched = |t: &Transaction| {
                let is_touched = |byte: &u64| t.bytes[(byte / 32) as usize] >> (byte % 32) & 1 == 1;
                (0..line_bytes).filter(is_touched).map(|byte| t.line + byte).collect::<BTreeSet<u64>>()
            };
            let found: Vec<_> = out.iter().map(|t| (t.line, touched(t))).collect();
            prop_assert_eq!(found, expected);
            for t in &out {
                let used = (0..8).filter(|sector| t.bytes[*sector] != 0).fold(0, |bits, sector| bits | 1 << sector);
                prop_assert_eq!(t.sectors, used);
            }
        }
    }

    #[test]
    fn each_lane_of_an_atomic_is_an_operation_on_its_word() {
        let mut access = MemAccess { bytes: 4, mask: u32::MAX, ..MemAccess::default() };
        // Lanes 0 to 7 access one word, and lanes 8 to 11 another word of the line. Each other lane accesses a separate word in
        // the next line.
        (0..).zip(&mut access.address).for_each(|(lane, address): (u64, _)| {
            *address = match lane {
                0..=7 => 0x1010,
                8..=11 => 0x1044,
                _ => 0x1080 + lane * 4,
            };
        });
        for reduction in [false, true] {
            access.kind = AccessKind::Atomic { op: AtomicOp::Add, reduction };
            let mut out = Vec::new();
            coalesce(&access, 128, &mut out);
            count_operations(&access, 128, &mut out);
            let found: Vec<_> = out.iter().map(|t| (t.operations, t.touched_words())).collect();
            let operations = |all, on_one_word| Operations { all, on_one_word, returns: !reduction };
            assert_eq!(found, [(operations(12, 8), 1 << 4 | 1 << 17), (operations(20, 1), 0xf_ffff << 12)]);
        }
        access.kind = AccessKind::Store;
        let mut out = Vec::new();
        coalesce(&access, 128, &mut out);
        count_operations(&access, 128, &mut out);
        assert!(out.iter().all(|t| t.operations == Operations::default()));
    }

    #[test]
    fn lanes_share_a_word_unless_they_change_it_by_atomics() {
        let mut access = MemAccess { bytes: 4, mask: u32::MAX, ..MemAccess::default() };
        (0..).zip(&mut access.address).for_each(|(lane, address): (u64, _)| *address = lane % 4 * 4);
        assert_eq!(bank_conflict_degree(&access, 32), 1);
        access.kind = AccessKind::Store;
        assert_eq!(bank_conflict_degree(&access, 32), 1);
        access.kind = AccessKind::Atomic { op: AtomicOp::Add, reduction: false };
        assert_eq!(bank_conflict_degree(&access, 32), 8);
    }

    proptest! {
        #[test]
        fn a_bank_delivers_one_word_in_a_cycle(
            mask in prop_oneof![Just(u32::MAX), any::<u32>()],
            words in prop::array::uniform32(0u64..128),
            // Adjacent words in any order are in separate banks.
            shuffle in prop::option::of(0u64..64),
            bank_bits in 0u32..7,
            is_atomic in any::<bool>(),
        ) {
            let mut access = MemAccess { bytes: 4, mask, ..MemAccess::default() };
            for (lane, (address, word)) in (0..).zip(access.address.iter_mut().zip(words)) {
                *address = 4 * shuffle.map_or(word, |by| 64 + (lane ^ by));
            }
            if is_atomic {
                access.kind = AccessKind::Atomic { op: AtomicOp::Add, reduction: false };
            }
            let banks = 1u32 << bank_bits;
            let active = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| access.address[lane] / 4);
            let asked: Vec<u64> = if is_atomic {
                active.collect()
            } else {
                active.collect::<BTreeSet<_>>().into_iter().collect()
            };
            let most = (0..u64::from(banks)).map(|bank| asked.iter().filter(|word| **word % u64::from(banks) == bank).count());
            prop_assert_eq!(bank_conflict_degree(&access, banks), most.max().unwrap_or(0).max(1) as u32);
        }
    }
}
