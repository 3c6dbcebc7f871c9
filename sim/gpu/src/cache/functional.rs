//! A functional cache without timing: the reference for the hits, misses and write-backs of the configured caches. Accesses come
//! one at a time.
use crate::config::{Fetch, IndexFunction, WriteAllocate};

/// Result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheResult {
    /// All needed sectors are valid.
    Hit,
    /// The line is present, but at least one needed sector is not valid.
    SectorMiss,
    /// The line is absent.
    Miss,
}

/// Geometry and fetch policy of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheGeometry {
    /// Number of sets.
    pub sets: u32,
    /// Ways per set.
    pub ways: u32,
    /// Tags per way.
    pub tags_per_way: u32,
    /// Line size, bytes.
    pub line_bytes: u32,
    /// Sector size, bytes.
    pub sector_bytes: u32,
    /// Set index function.
    pub index: IndexFunction,
    /// Sectors that a miss fetches.
    pub fetch: Fetch,
}

#[derive(Clone, Copy, Debug)]
struct CacheLine {
    address: u64,
    valid: u32,
    dirty: u32,
    /// Mask of the 4-byte words that stores wrote.
    words: u64,
    blocks: u32,
}

/// A functional cache. Each set lists its lines from the least to the most recently used.
#[derive(Clone, Debug)]
pub struct Functional {
    shape: CacheGeometry,
    sets: Vec<Vec<CacheLine>>,
    /// Returns the number of 32-byte sub-blocks that the line at an address occupies. By default a line occupies its full size.
    pub size: fn(u64) -> u32,
    /// A line that a load allocates first takes its full size.
    pub reserves_whole_lines: bool,
    /// Mask of the 32-byte sectors that the last access fetched.
    pub fetched: u32,
    /// Writes to the next level, over all accesses: dirty lines that were evicted, and stores that were written through.
    pub writebacks: u64,
    /// 32-byte sectors in these writes.
    pub sectors_written: u64,
}

impl Functional {
    /// Creates an empty cache.
    pub fn new(shape: CacheGeometry) -> Self {
        let sets = vec![Vec::new(); shape.sets as usize];
        Self {
            shape,
            sets,
            size: |_| u32::MAX,
            reserves_whole_lines: false,
            fetched: 0,
            writebacks: 0,
            sectors_written: 0,
        }
    }

    fn set(&mut self, address: u64) -> &mut Vec<CacheLine> {
        let number = address / u64::from(self.shape.line_bytes);
        let set = match self.shape.index {
            IndexFunction::Bmod => (number % u64::from(self.shape.sets)) as u32,
            function => function.index(number as u32, self.shape.sets),
        };
        &mut self.sets[set as usize]
    }

    /// Widens `touched`, a mask of 32-byte sectors, to whole sectors of this cache.
    fn widened(&self, touched: u32) -> u32 {
        let width = self.shape.sector_bytes / 32;
        let bits = 0..self.shape.line_bytes / 32;
        let is_touched = |bit: u32| bits.clone().any(|t| touched >> t & 1 == 1 && t / width == bit / width);
        bits.clone().filter(|bit| is_touched(*bit)).fold(0, |mask, bit| mask | 1 << bit)
    }

    fn all(&self) -> u32 {
        (0..self.shape.line_bytes / 32).fold(0, |mask, bit| mask | 1 << bit)
    }

    /// Removes the line from its set.
    fn take(&mut self, address: u64) -> Option<CacheLine> {
        let set = self.set(address);
        let at = set.iter().position(|line| line.address == address)?;
        Some(set.remove(at))
    }

    /// Adds the line to its set as the most recently used one. Evicts the least recently used lines until tags and data suffice.
    fn put(&mut self, line: CacheLine) {
        let whole = self.shape.line_bytes / 32;
        let line = CacheLine { blocks: (self.size)(line.address).min(whole), ..line };
        self.make_room(line.address, line.blocks);
        self.set(line.address).push(line);
    }

    /// Evicts the least recently used lines of a set until a tag and `blocks` sub-blocks are free.
    fn make_room(&mut self, address: u64, blocks: u32) {
        let shape = self.shape;
        let set = self.set(address);
        let mut left = Vec::new();
        if set.len() as u32 == shape.ways * shape.tags_per_way {
            left.push(set.remove(0));
        }
        while set.iter().map(|l| l.blocks).sum::<u32>() + blocks > shape.ways * (shape.line_bytes / 32) {
            left.push(set.remove(0));
        }
        left.into_iter().filter(|line| line.dirty != 0).for_each(|line| self.leave(line.dirty));
    }

    /// Counts a write of `sectors` to the next level.
    fn leave(&mut self, sectors: u32) {
        self.writebacks += 1;
        self.sectors_written += u64::from(sectors.count_ones());
    }

    fn found(line: Option<CacheLine>, needed: u32) -> CacheResult {
        match line {
            None => CacheResult::Miss,
            Some(line) if needed & !line.valid == 0 => CacheResult::Hit,
            Some(_) => CacheResult::SectorMiss,
        }
    }

    /// Loads sectors of the line at `address`, and fetches the sectors that are not valid.
    pub fn read(&mut self, address: u64, touched: u32) -> CacheResult {
        let needed = self.widened(touched);
        let (found, mut line) = self.look_up(address, needed);
        self.fetched = if found == CacheResult::Hit { 0 } else { self.wanted(needed) & !line.valid };
        line.valid |= self.fetched;
        if found == CacheResult::Miss && self.reserves_whole_lines {
            self.make_room(address, self.shape.line_bytes / 32);
        }
        self.put(line);
        found
    }

    /// Performs an atomic, which reads its sectors and then writes them.
    pub fn atomic(&mut self, address: u64, touched: u32, through: bool) -> CacheResult {
        let found = self.read(address, touched);
        self.write(address, touched, 0, WriteAllocate::Fetch, through);
        found
    }

    /// Stores the 4-byte words `words` of a line, which lie in the sectors `touched`. `allocate` selects how a miss allocates.
    /// The store is written to the next level at once if `through`, else when the line is evicted.
    pub fn write(
        &mut self,
        address: u64,
        touched: u32,
        words: u64,
        allocate: WriteAllocate,
        through: bool,
    ) -> CacheResult {
        let needed = self.widened(touched);
        let before = self.set(address).clone();
        let (found, mut line) = self.look_up(address, needed);
        let is_hit = found == CacheResult::Hit;
        // With write masks, a store hits if all its sectors hold written words.
        let is_taken = allocate == WriteAllocate::Mask && needed & !(line.valid | line.dirty) == 0;
        let found = if is_taken { CacheResult::Hit } else { found };
        let fetched = std::mem::take(&mut self.fetched);
        match allocate {
            _ if is_hit => self.fetched = if words == 0 { fetched } else { 0 },
            WriteAllocate::ForwardAndFetch => {
                self.fetched = self.wanted(needed) & !line.valid;
                line.valid |= self.fetched;
                self.put(line);
                self.leave(touched);
                return found;
            }
            WriteAllocate::None => {
                *self.set(address) = before;
                self.leave(needed);
                return found;
            }
            WriteAllocate::Fetch if Self::complete(words, needed) => line.valid |= needed,
            WriteAllocate::Fetch => {
                self.fetched = self.wanted(needed) & !line.valid;
                line.valid |= self.fetched;
            }
            WriteAllocate::Mask => {
                line.words |= words;
                let width = self.shape.sector_bytes / 32;
                let one = (1 << width) - 1;
                for sector in (0..self.shape.line_bytes / 32).step_by(width as usize) {
                    if Self::complete(line.words, one << sector) {
                        line.valid |= one << sector;
                    }
                }
            }
        }
        if !through {
            line.dirty |= needed;
        }
        self.put(line);
        if through {
            self.leave(needed);
        }
        found
    }

    /// Returns whether `words` cover each of `sectors` completely.
    fn complete(words: u64, sectors: u32) -> bool {
        (0..8).all(|sector| sectors >> sector & 1 == 0 || words >> (8 * sector) & 0xff == 0xff)
    }

    /// Returns the sectors that a miss of `needed` requests.
    fn wanted(&self, needed: u32) -> u32 {
        if self.shape.fetch == Fetch::Line { self.all() } else { needed }
    }

    /// Removes the line from its set and returns it. If it is absent, returns a line without valid sectors.
    fn look_up(&mut self, address: u64, needed: u32) -> (CacheResult, CacheLine) {
        let old = self.take(address);
        let new = CacheLine { address, valid: 0, dirty: 0, words: 0, blocks: 0 };
        (Self::found(old, needed), old.unwrap_or(new))
    }

    /// Performs a store in a cache that evicts the sectors that a store hits.
    pub fn write_evict(&mut self, address: u64, touched: u32) -> CacheResult {
        let touched = self.widened(touched);
        self.fetched = 0;
        let set = self.set(address);
        let at = set.iter().position(|line| line.address == address);
        let found = Self::found(at.map(|at| set[at]), touched);
        if let Some(at) = at {
            set[at].valid &= !touched;
            if set[at].valid == 0 {
                set.remove(at);
            }
        }
        found
    }

    /// Performs a store in a write-back cache that does not allocate on stores. A hit makes the sectors dirty.
    pub fn write_back(&mut self, address: u64, touched: u32) -> CacheResult {
        let found = self.write_through(address, touched);
        let touched = self.widened(touched);
        if found == CacheResult::Hit
            && let Some(line) = self.set(address).last_mut()
        {
            line.dirty |= touched;
        }
        found
    }

    /// Performs a store in a write-through cache that does not allocate on stores.
    pub fn write_through(&mut self, address: u64, touched: u32) -> CacheResult {
        let touched = self.widened(touched);
        self.fetched = 0;
        let line = self.take(address);
        if let Some(line) = line {
            self.set(address).push(line);
        }
        Self::found(line, touched)
    }
}
