//! Streams of the launches by kernels (CUDA's dynamic parallelism). Each block of a launching kernel has its own default stream. A
//! kernel names other streams by handles.
use crate::operation::StreamId;
use std::collections::BTreeMap;

/// First number of the events that kernels create. Host programs number theirs from 1.
const FIRST_EVENT: u64 = 1 << 62;

/// First number of the streams, which do not wait for the default stream of the program.
pub const FIRST_STREAM: u64 = (1 << 62) + 1;

/// Handles of CUDA's special streams for kernels.
const TAIL_LAUNCH: u64 = 3;
const FIRE_AND_FORGET: u64 = 4;

/// A stream, as a kernel names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum KernelStream {
    /// Default stream of a block.
    Block([u32; 3]),
    /// Stream by its handle.
    Handle(u64),
    /// A launch that waits for no other one, by its number.
    Alone(u64),
    /// Its launches start when the launching kernel and its other launches have ended.
    Tail,
}

/// Launches by the kernel of one launch.
#[derive(Debug, Default)]
struct Children {
    streams: BTreeMap<KernelStream, StreamId>,
    /// Work that has not ended, on the stream for tail launches.
    tail: u64,
    /// Work that has not ended, on other streams.
    others: u64,
}

/// The streams of launches by kernels.
#[derive(Debug, Default)]
pub struct LaunchFamilies {
    /// By the number of the launching launch.
    children: BTreeMap<u64, Children>,
    /// Number of the launching launch, and whether the stream has tail launches.
    parents: BTreeMap<StreamId, (u64, bool)>,
    /// Number of streams so far.
    count: u64,
}

/// Returns the number of an event by its handle in kernels, which may be any number.
pub fn event_of(handle: u64) -> u64 {
    FIRST_EVENT | handle
}

impl LaunchFamilies {
    /// Returns whether a stream has launches by a kernel.
    pub fn has(&self, stream: StreamId) -> bool {
        self.parents.contains_key(&stream)
    }

    /// Adds work of a block of launch `parent`, and returns its stream. `handle` is the kernel's handle of the stream, 0 for the
    /// default stream of the block.
    pub fn add(&mut self, parent: u64, cta: [u32; 3], handle: u64) -> StreamId {
        let stream = match handle {
            0 => KernelStream::Block(cta),
            TAIL_LAUNCH => KernelStream::Tail,
            FIRE_AND_FORGET => KernelStream::Alone(self.count),
            handle => KernelStream::Handle(handle),
        };
        let is_tail = stream == KernelStream::Tail;
        let children = self.children.entry(parent).or_default();
        *(if is_tail { &mut children.tail } else { &mut children.others }) += 1;
        *children.streams.entry(stream).or_insert_with(|| {
            let id = StreamId(FIRST_STREAM + 2 * self.count);
            self.count += 1;
            self.parents.insert(id, (parent, is_tail));
            id
        })
    }

    /// Ends work of a stream. Returns the launching launch if this was the last work of its family.
    pub fn end(&mut self, stream: StreamId) -> Option<u64> {
        let &(parent, is_tail) = self.parents.get(&stream)?;
        let children = self.children.get_mut(&parent)?;
        *(if is_tail { &mut children.tail } else { &mut children.others }) -= 1;
        (children.tail + children.others == 0).then_some(parent)
    }

    /// Returns whether launches by the kernel of launch `parent` have not ended.
    pub fn is_working(&self, parent: u64) -> bool {
        self.children.get(&parent).is_some_and(|children| children.tail + children.others > 0)
    }

    /// Returns the launching launch if the stream has its tail launches, and whether its other launches have ended.
    pub fn tail(&self, stream: StreamId) -> Option<(u64, bool)> {
        let (parent, _) = self.parents.get(&stream).filter(|(_, is_tail)| *is_tail)?;
        Some((*parent, self.children.get(parent).is_none_or(|children| children.others == 0)))
    }

    /// Removes the streams of a launch whose family has ended.
    pub fn remove(&mut self, parent: u64) {
        let children = self.children.remove(&parent).unwrap_or_default();
        for stream in children.streams.values() {
            self.parents.remove(stream);
        }
    }

    /// Returns whether kernels have launched kernels so far.
    pub fn is_used(&self) -> bool {
        self.count > 0
    }
}
