//! The metadata that a warp keeps for its load instructions from one assist warp to the next, in registers of its own.
use crate::caba::lanes::{LANES, METADATA, Metadata};
use selvedge_state::State;

/// The metadata of one warp, for a bounded number of loads: the one that was not executed for the longest time gives way.
#[derive(Default, State)]
pub struct WarpMetadata {
    /// By the index of the load in the kernel's code, the one that was executed last at the end.
    loads: Vec<(u32, Metadata)>,
}

impl WarpMetadata {
    /// The metadata of a load, zeros when it has none yet, and whether another load's gave way to it.
    pub fn take(&mut self, pc: u32, most: usize) -> (Metadata, bool) {
        let at = self.loads.iter().position(|(own, _)| *own == pc);
        let replaces = at.is_none() && self.loads.len() >= most;
        let entry = match at {
            Some(at) => self.loads.remove(at),
            None => (pc, [[0; METADATA]; LANES]),
        };
        if replaces {
            self.loads.remove(0);
        }
        self.loads.push(entry);
        (entry.1, replaces)
    }

    /// What an assist warp has made of a load's metadata.
    pub fn put(&mut self, pc: u32, metadata: Metadata) {
        if let Some((_, own)) = self.loads.iter_mut().find(|(own, _)| *own == pc) {
            *own = metadata;
        }
    }

    /// The warp has ended.
    pub fn clear(&mut self) {
        self.loads.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_that_was_not_executed_for_the_longest_time_gives_way() {
        let mut warp = WarpMetadata::default();
        assert_eq!(warp.take(10, 2), ([[0; METADATA]; LANES], false));
        warp.put(10, [[7; METADATA]; LANES]);
        assert!(!warp.take(20, 2).1);
        assert_eq!(warp.take(10, 2), ([[7; METADATA]; LANES], false));
        assert!(warp.take(30, 2).1, "20 gives way");
        assert_eq!(warp.take(10, 2).0, [[7; METADATA]; LANES]);
        assert_eq!(warp.take(20, 2), ([[0; METADATA]; LANES], true));
    }

    #[test]
    fn metadata_end_with_their_warp() {
        let mut warp = WarpMetadata::default();
        _ = warp.take(10, 2);
        warp.put(10, [[7; METADATA]; LANES]);
        warp.clear();
        assert_eq!(warp.take(10, 2), ([[0; METADATA]; LANES], false));
    }
}
