//! The lines of an L2 slice: tags, lines in flight, and the requests that wait for them.
use super::atomics::AtomicUnit;
use crate::cache::{MshrTable, SectorUse, TagArray};
use crate::config::L2;
use crate::packet::Packet;
use selvedge_state::State;

/// The state of a line in the slice.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct L2LineState {
    /// Sectors whose bytes are all present.
    pub valid: u32,
    /// Sectors that were written and not sent to DRAM. A dirty sector that is not valid was partly written.
    pub dirty: u32,
    /// 4-byte words that were written to sectors that were not valid.
    pub words: u64,
    /// The use of the sectors by requests.
    pub sectors: SectorUse,
}

/// The lines of a slice, with the requests that wait for them.
#[derive(State)]
pub struct SliceLines {
    pub tags: TagArray<L2LineState>,
    /// `true` if the slice has more tags than ways.
    pub is_compressed: bool,
    /// Lines evicted in this access to make room; empty between accesses.
    pub making_room: Vec<(u64, L2LineState)>,
    pub mshr: MshrTable<Packet>,
    pub atomics: AtomicUnit,
    /// Requests whose line has arrived; the port has handled the first `replayed` ones.
    pub replay: Vec<Packet>,
    replayed: usize,
}

impl SliceLines {
    /// Returns an empty slice with `tags_per_way` tags for each way.
    pub fn new(l2: &L2, tags_per_way: u32) -> Self {
        SliceLines {
            is_compressed: tags_per_way > 1,
            tags: TagArray::compressed(l2.sets, l2.ways, tags_per_way, l2.line_bytes, l2.index),
            making_room: Vec::new(),
            atomics: AtomicUnit::new(l2),
            mshr: MshrTable::new(l2.mshr_entries, l2.mshr_merges),
            replay: Vec::with_capacity(l2.mshr_merges as usize),
            replayed: 0,
        }
    }

    /// Returns the oldest request whose line has arrived and that the port has not handled.
    #[inline]
    pub fn next_replay(&self) -> Option<Packet> {
        self.replay.get(self.replayed).copied()
    }

    /// Returns the requests whose line has arrived and that the port has not handled.
    pub fn to_replay(&self) -> &[Packet] {
        &self.replay[self.replayed..]
    }

    /// Removes the request that [`Self::next_replay`] returned.
    pub fn end_replay(&mut self) {
        self.replayed += 1;
        if self.replayed == self.replay.len() {
            self.replay.clear();
            self.replayed = 0;
        }
    }
}
