//! Stages of MapReduce programs in the form of Mars: records with an index, map in two passes with prefix sums, group by a
//! bitonic sort, and reduce.
use std::collections::VecDeque;

use super::helpers::{int, launch_row, place_words};
use super::{Arg, Launch, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// Threads per block of all kernels.
const THREADS: usize = 256;
/// Elements that a block of the prefix sums takes.
const SCANNED: usize = 2 * THREADS;
/// Bytes of an entry of an index.
const ENTRY: usize = 16;
/// Largest number of records that is sorted by passes over the whole index only.
const MAX_GLOBAL: usize = 256 << 10;
/// Blocks per launch of a sort within blocks.
const CHUNK: usize = 256;

/// Input records of a map.
#[derive(Default)]
pub(super) struct MarsRecords {
    keys: Vec<u8>,
    values: Vec<u8>,
    /// Offset and size of the key, offset and size of the value.
    index: Vec<u32>,
}

impl MarsRecords {
    /// Adds a record.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        let entry = [self.keys.len(), key.len(), self.values.len(), value.len()];
        self.index.extend(entry.map(|number| number as u32));
        self.keys.extend_from_slice(key);
        self.values.extend_from_slice(value);
    }
}

/// Returns the bytes of `words`, for a key or a value.
pub(super) fn bytes(words: &[usize]) -> Vec<u8> {
    words.iter().flat_map(|word| (*word as u32).to_le_bytes()).collect()
}

/// Records on the device.
#[derive(Clone, Copy)]
pub(super) struct OnDevice {
    pub keys: u64,
    pub values: u64,
    pub index: u64,
    pub count: usize,
}

/// Launches of a program, and the buffers between them.
pub(super) struct MarsProgram<'a> {
    pub memory: &'a mut DeviceMemory,
    pub launches: Vec<Launch>,
}

impl MarsProgram<'_> {
    fn alloc(&mut self, words: usize, name: &str) -> Result<u64, WorkloadError> {
        Ok(self.memory.alloc(4 * words as u64, name)?)
    }

    fn launch(&mut self, kernel: &str, threads: usize, pointers: &[u64], numbers: &[usize]) {
        let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
        let args = pointers.chain(numbers.iter().map(|number| int(*number))).collect();
        self.launches.push(launch_row(kernel, threads, THREADS as u32, args));
    }

    /// Adds the prefix sums of `count` numbers, and returns their address.
    fn sums(&mut self, from: u64, count: usize) -> Result<u64, WorkloadError> {
        let to = self.alloc(count, "sums")?;
        let blocks = count.div_ceil(SCANNED);
        let totals = self.alloc(blocks, "totals")?;
        self.launch("sums", blocks * THREADS, &[from, to, totals], &[count]);
        if blocks > 1 {
            let before = self.sums(totals, blocks)?;
            self.launch("add_sums", count, &[to, before], &[count]);
        }
        Ok(to)
    }

    /// Copies `records` to the device.
    pub fn upload(&mut self, records: &MarsRecords) -> Result<OnDevice, WorkloadError> {
        let keys = self.memory.alloc(records.keys.len() as u64, "input keys")?;
        self.memory.write(keys, &records.keys)?;
        let values = self.memory.alloc(records.values.len() as u64, "input values")?;
        self.memory.write(values, &records.values)?;
        let index = place_words(self.memory, "input index", &records.index)?;
        Ok(OnDevice { keys, values, index, count: records.index.len() / 4 })
    }

    /// Adds the map of `records`. Together they emit `emitted` records, with keys and values of these sizes.
    pub fn map(
        &mut self,
        records: OnDevice,
        emitted: usize,
        key_size: usize,
        value_size: usize,
    ) -> Result<OnDevice, WorkloadError> {
        let OnDevice { keys, values, index, count } = records;
        let inputs = [keys, values, index];
        self.two_passes(["map_count", "map"], &inputs, [count, emitted], [key_size, value_size])
    }

    /// Adds the reduction of `groups`. Each has room for one record, with a key and a value of these sizes.
    pub fn reduce(
        &mut self,
        grouped: &Grouped,
        key_size: usize,
        value_size: usize,
    ) -> Result<OnDevice, WorkloadError> {
        let OnDevice { keys, values, index, count } = grouped.sorted;
        let groups = grouped.count(self.memory)?;
        let ranges = self.alloc(2 * groups, "ranges")?;
        self.launch("write_ranges", groups, &[grouped.begins, ranges], &[groups, count]);
        let inputs = [keys, values, index, ranges];
        self.two_passes(["reduce_count", "reduce"], &inputs, [groups; 2], [key_size, value_size])
    }

    /// Adds a count of what each thread emits, the prefix sums of the counts, and the pass that emits.
    fn two_passes(
        &mut self,
        kernels: [&str; 2],
        inputs: &[u64],
        [count, out]: [usize; 2],
        bytes: [usize; 2],
    ) -> Result<OnDevice, WorkloadError> {
        let mut sizes = [0; 3];
        for (size, name) in sizes.iter_mut().zip(["key sizes", "value sizes", "records of each"]) {
            *size = self.alloc(count, name)?;
        }
        self.launch(kernels[0], count, &[inputs, &sizes].concat(), &[count]);
        let mut before = [0; 3];
        for (before, sizes) in before.iter_mut().zip(sizes) {
            *before = self.sums(sizes, count)?;
        }
        let emitted = self.alloc(2 * count, "bytes emitted")?;
        let keys = self.memory.alloc((bytes[0] * out) as u64, "emitted keys")?;
        let values = self.memory.alloc((bytes[1] * out) as u64, "emitted values")?;
        // A sort needs a power of two of at least a block, and leaves entries without a record in front.
        let slots = slots(out);
        let index = self.memory.alloc((ENTRY * slots) as u64, "index")?;
        let none = ENTRY * out;
        self.memory.fill(index, (ENTRY * slots) as u64, |bytes| bytes[none..].fill(0xff))?;
        let done = self.alloc(count, "records emitted")?;
        let pointers = [inputs, &before, &[emitted, keys, values, index, done]].concat();
        self.launch(kernels[1], count, &pointers, &[count]);
        Ok(OnDevice { keys, values, index, count: out })
    }

    /// Adds the sort of the index that [`Self::map`] left.
    fn sort(&mut self, keys: u64, index: u64, slots: usize, count: usize) {
        let in_blocks = count > MAX_GLOBAL;
        if in_blocks {
            self.launch_chunks("sort_blocks", slots, |first| (vec![keys, index], vec![first]));
        }
        let mut run = if in_blocks { 2 * THREADS } else { 2 };
        while run <= slots {
            let mut distance = run / 2;
            while distance > if in_blocks { THREADS / 2 } else { 0 } {
                self.launch("sort_pass", slots, &[keys, index], &[run, distance]);
                distance /= 2;
            }
            if in_blocks {
                self.launch_chunks("merge_blocks", slots, |first| {
                    (vec![keys, index], vec![first, run / THREADS])
                });
            }
            run *= 2;
        }
    }

    /// Adds launches of [`CHUNK`] blocks each, which together have a thread per slot.
    fn launch_chunks(&mut self, kernel: &str, slots: usize, args: impl Fn(usize) -> (Vec<u64>, Vec<usize>)) {
        for first in (0..slots / THREADS).step_by(CHUNK) {
            let (pointers, numbers) = args(first);
            self.launch(kernel, CHUNK * THREADS, &pointers, &numbers);
        }
    }

    /// Adds the group stage over `emitted` records with keys and values of these sizes.
    pub fn group(
        &mut self,
        emitted: OnDevice,
        key_size: usize,
        value_size: usize,
    ) -> Result<Grouped, WorkloadError> {
        let count = emitted.count;
        let slots = slots(count);
        self.sort(emitted.keys, emitted.index, slots, count);
        let index = emitted.index + (ENTRY * (slots - count)) as u64;
        let mut sorted = [0; 2];
        for (of_values, from, size, name) in
            [(1, emitted.values, value_size, "sorted values"), (0, emitted.keys, key_size, "sorted keys")]
        {
            let sizes = self.alloc(count, "sizes")?;
            self.launch("sizes_of", count, &[index, sizes], &[of_values, count]);
            let before = self.sums(sizes, count)?;
            let to = self.memory.alloc((size * count) as u64, name)?;
            self.launch("copy_sorted", count, &[from, index, before, to], &[of_values, count]);
            sorted[of_values] = to;
        }
        let is_first = self.alloc(count, "first of a group")?;
        self.launch("find_groups", count, &[sorted[0], index, is_first], &[count]);
        let before = self.sums(is_first, count)?;
        let begins = self.alloc(count, "groups")?;
        self.launch("write_groups", count, &[is_first, before, begins], &[count]);
        let sorted = OnDevice { keys: sorted[0], values: sorted[1], index, count };
        Ok(Grouped { sorted, begins, is_first, before })
    }
}

/// Records in the order of their keys.
#[derive(Clone, Copy)]
pub(super) struct Grouped {
    pub sorted: OnDevice,
    /// Number of the first record of each key.
    pub begins: u64,
    is_first: u64,
    before: u64,
}

impl Grouped {
    /// Returns the number of different keys, after the launches.
    fn count(&self, memory: &DeviceMemory) -> Result<usize, WorkloadError> {
        let last = 4 * (self.sorted.count - 1) as u64;
        let mut count = 0;
        for buffer in [self.is_first, self.before] {
            count += memory.read_u32s(buffer + last, 1)?[0] as usize;
        }
        Ok(count)
    }
}

/// Returns the entries of an index of `count` records.
fn slots(count: usize) -> usize {
    count.next_power_of_two().max(THREADS)
}

/// Returns the launches of one stage after another.
pub(super) fn in_stages(
    mut next: impl FnMut(&mut DeviceMemory) -> Result<Option<Vec<Launch>>, WorkloadError> + 'static,
) -> impl FnMut(&mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> + 'static {
    let mut stage = VecDeque::new();
    move |memory| {
        if stage.is_empty() {
            stage.extend(next(memory)?.into_iter().flatten());
        }
        Ok(stage.pop_front())
    }
}
