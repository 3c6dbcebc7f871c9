//! The metadata that a warp keeps for its load instructions between their assist warps, in additional registers.
use crate::lanes::{LANES, LoadMetadata, METADATA};
use selvedge_state::State;

/// The metadata of one warp, for a limited number of loads. The least recently executed load is replaced.
#[derive(Default, State)]
pub struct WarpMetadata {
    /// Metadata by the index of the load in the kernel's code, the most recently executed last.
    loads: Vec<(u32, LoadMetadata)>,
}

impl WarpMetadata {
    /// Returns the metadata of a load, zeros if it has none yet, and whether they replaced another load's.
    pub fn take(&mut self, pc: u32, most: usize) -> (LoadMetadata, bool) {
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

    /// Stores the metadata of a load after its assist warp.
    pub fn put(&mut self, pc: u32, metadata: LoadMetadata) {
        if let Some((_, own)) = self.loads.iter_mut().find(|(own, _)| *own == pc) {
            *own = metadata;
        }
    }

    /// Removes all metadata, as the warp has ended.
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
