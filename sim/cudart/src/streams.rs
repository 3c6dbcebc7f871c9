//! Streams of a program: queues of work. Launches of different streams run at the same time.
//!
//! The work of a stream begins in order. Work of the default stream begins after all earlier work of blocking streams, and later work of
//! blocking streams begins after it, as on CUDA's legacy default stream. Only launches take simulated time.
//!
//! Launches by kernels are work of streams that belong to the launching launch ([`LaunchFamilies`]). It ends when they have all ended.
use crate::device::{Device, DeviceError};
use crate::families::{FIRST_STREAM, LaunchFamilies, event_of};
use crate::operation::{LaunchOperation, PitchedRows, QueuedOperation, StreamId, SyncTarget};
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::requests::RequestedWork;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Work of a stream.
#[derive(Debug)]
pub enum StreamWork {
    /// Changes memory, or launches a kernel.
    Operation(QueuedOperation),
    /// Reads rows for the program, which knows them by a ticket.
    Read {
        /// Number for the program.
        ticket: u64,
        /// Source rows.
        rows: PitchedRows,
    },
    /// Records an event.
    Record {
        /// Number of the event.
        event: u64,
    },
    /// Waits for an event.
    Wait {
        /// Number of the event.
        event: u64,
    },
}

/// Work that waits, with its place in the order of the program's calls.
#[derive(Debug)]
struct QueuedWork {
    number: u64,
    work: StreamWork,
    /// Work that must end first, in addition to the order of the streams.
    after: Option<u64>,
}

impl QueuedWork {
    fn is_launch(&self) -> bool {
        matches!(&self.work, StreamWork::Operation(operation) if operation.is_launch())
    }
}

/// A launch that has started.
#[derive(Debug)]
struct StartedLaunch {
    stream: StreamId,
    /// Module of its kernel.
    module: usize,
    /// `true`: its blocks have ended, and launches by its kernel have not.
    ended: bool,
}

/// The last record of an event.
#[derive(Clone, Copy, Debug)]
struct EventRecord {
    number: u64,
    /// Simulated time in nanoseconds; `None` while the record waits.
    at: Option<f64>,
}

/// Time at which launches start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchStart {
    /// As soon as their stream comes to them.
    Now,
    /// When the program waits. All launches that could start are known then.
    AtWait,
    /// Not before a launch in flight ends.
    AtEnd,
}

/// State of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EventTime {
    /// The event was never recorded.
    Unknown,
    /// The record waits for earlier work.
    Pending,
    /// Simulated time of the record in nanoseconds.
    At(f64),
}

/// Place of a stream among those whose first work may begin: launches come last, because other work takes no time. Then the priority
/// and the order of the program's calls count.
type OpenPlace = (bool, Reverse<u8>, u64);

/// The streams of a program, by number.
#[derive(Debug)]
pub struct Streams {
    /// Max launches that run at the same time.
    most: u8,
    queues: BTreeMap<StreamId, VecDeque<QueuedWork>>,
    /// Priorities other than 0.
    priorities: BTreeMap<StreamId, u8>,
    /// Streams with queued work and without a started launch.
    open: BTreeMap<OpenPlace, StreamId>,
    /// Launches that have started, by number.
    started: BTreeMap<u64, StartedLaunch>,
    /// Number of the started launch of each stream.
    busy: BTreeMap<StreamId, u64>,
    /// Number of the last launch in each kernel slot.
    slots: BTreeMap<u8, u64>,
    events: BTreeMap<u64, EventRecord>,
    /// Numbers of queued records of events.
    records: BTreeSet<u64>,
    /// Number of the last work.
    last: u64,
    /// Bytes of reads that have ended, with their tickets.
    reads: VecDeque<(u64, Vec<u8>)>,
    overlaps: bool,
    /// Streams of the launches by kernels.
    families: LaunchFamilies,
    /// Errors of launches by kernels.
    refused: Vec<DeviceError>,
}

impl Streams {
    /// Returns streams without work. At most `most` launches run at the same time.
    #[must_use]
    pub fn new(most: u32) -> Self {
        Streams {
            most: most.try_into().unwrap_or(u8::MAX),
            queues: BTreeMap::new(),
            priorities: BTreeMap::new(),
            open: BTreeMap::new(),
            started: BTreeMap::new(),
            busy: BTreeMap::new(),
            slots: BTreeMap::new(),
            events: BTreeMap::new(),
            records: BTreeSet::new(),
            last: 0,
            reads: VecDeque::new(),
            overlaps: false,
            families: LaunchFamilies::default(),
            refused: Vec::new(),
        }
    }

    /// Sets the priority of a stream, from 0 on. Launches of streams with larger numbers start before others.
    pub fn set_priority(&mut self, stream: StreamId, priority: u8) {
        let place = self.place(stream);
        let is_open = place.is_some_and(|place| self.open.remove(&place).is_some());
        self.priorities.insert(stream, priority);
        if is_open {
            self.open(stream);
        }
    }

    /// Returns the place of a stream with queued work.
    fn place(&self, stream: StreamId) -> Option<OpenPlace> {
        let head = self.queues.get(&stream)?.front()?;
        Some((head.is_launch(), Reverse(self.priority(stream)), head.number))
    }

    /// Lets the first work of a stream begin, if there is any.
    fn open(&mut self, stream: StreamId) {
        if let Some(place) = self.place(stream) {
            self.open.insert(place, stream);
        }
    }

    fn priority(&self, stream: StreamId) -> u8 {
        self.priorities.get(&stream).copied().unwrap_or_default()
    }

    /// Adds work to a stream.
    pub fn push(&mut self, stream: StreamId, work: StreamWork) {
        self.last += 1;
        let number = self.last;
        let after = match work {
            StreamWork::Record { event } => {
                self.events.insert(event, EventRecord { number, at: None });
                self.records.insert(number);
                None
            }
            StreamWork::Wait { event } => self.events.get(&event).map(|record| record.number),
            StreamWork::Operation(_) | StreamWork::Read { .. } => None,
        };
        let queue = self.queues.entry(stream).or_default();
        queue.push_back(QueuedWork { number, work, after });
        if queue.len() == 1 && !self.busy.contains_key(&stream) {
            self.open(stream);
        }
    }

    /// Begins queued work until a launch starts, and returns the launch in a free kernel slot. Returns `None` if no work can begin before
    /// a launch ends. Without `may_launch`, no launch starts. `now` returns the simulated time in nanoseconds.
    ///
    /// # Errors
    /// The device refuses work, which is then removed from its queue. Errors of launches by kernels are kept for
    /// [`Streams::take_refused`].
    pub fn proceed(
        &mut self,
        device: &mut Device,
        memory: &mut DeviceMemory,
        may_launch: bool,
        now: &mut dyn FnMut() -> f64,
    ) -> Result<Option<LaunchedKernel>, DeviceError> {
        self.take_requests(memory);
        while let Some((stream, QueuedWork { number, work, .. })) = self.pop(may_launch) {
            match work {
                StreamWork::Operation(operation) => {
                    let module = operation.module();
                    match device.apply(&operation.into(), memory) {
                        Ok(launch) => {
                            if let Some((mut launch, module)) = launch.zip(module) {
                                self.start(stream, number, module, &mut launch);
                                memory.requests_mut().begin(launch.slot);
                                return Ok(Some(launch));
                            }
                        }
                        Err(error) if self.families.has(stream) => {
                            self.refused.push(error);
                            self.settle(stream);
                        }
                        Err(error) => {
                            self.open(stream);
                            return Err(error);
                        }
                    }
                }
                StreamWork::Read { ticket, rows } => {
                    self.open(stream);
                    let bytes = device.read(rows, memory)?;
                    self.reads.push_back((ticket, bytes));
                    continue;
                }
                StreamWork::Record { event } => {
                    self.records.remove(&number);
                    // A later record of the same event may wait.
                    if let Some(record) = self.events.get_mut(&event).filter(|record| record.number == number)
                    {
                        record.at = Some(now());
                    }
                    self.settle(stream);
                }
                StreamWork::Wait { .. } => self.settle(stream),
            }
            self.open(stream);
        }
        Ok(None)
    }

    /// Starts a launch in a free kernel slot.
    fn start(&mut self, stream: StreamId, number: u64, module: usize, launch: &mut LaunchedKernel) {
        launch.slot = self.free_slot().unwrap_or(0);
        launch.priority = self.priority(stream);
        self.started.insert(number, StartedLaunch { stream, module, ended: false });
        self.busy.insert(stream, number);
        self.slots.insert(launch.slot, number);
    }

    /// Returns the errors of launches by kernels, and removes them.
    pub fn take_refused(&mut self) -> Vec<DeviceError> {
        std::mem::take(&mut self.refused)
    }

    /// Adds the launches that kernels have requested to the streams of their families.
    fn take_requests(&mut self, memory: &mut DeviceMemory) {
        if !memory.requests().is_waiting() {
            return;
        }
        for request in memory.requests_mut().take() {
            // The blocks of earlier launches in the slot had ended before its last launch started.
            let last = self.slots.get(&request.slot).copied();
            let Some((number, parent)) = last.and_then(|last| Some((last, self.started.get(&last)?))) else {
                continue;
            };
            let stream = self.families.add(number, request.cta, request.stream);
            let work = match request.work {
                RequestedWork::Launch(launch) => {
                    let launch = LaunchOperation { module: parent.module, launch };
                    StreamWork::Operation(QueuedOperation::Launch(launch))
                }
                RequestedWork::Record(event) => StreamWork::Record { event: event_of(event) },
                RequestedWork::Wait(event) => StreamWork::Wait { event: event_of(event) },
            };
            self.push(stream, work);
        }
    }

    /// Ends work of a stream. If it was the last work of a family, this may end the launching launch, which may end another family.
    fn settle(&mut self, mut stream: StreamId) {
        while let Some(parent) = self.families.end(stream) {
            if !self.started.get(&parent).is_some_and(|launch| launch.ended) {
                return;
            }
            let Some(ended) = self.remove(parent) else { return };
            stream = ended;
        }
    }

    /// Removes a started launch, and returns its stream, whose next work may begin.
    fn remove(&mut self, number: u64) -> Option<StreamId> {
        let stream = self.started.remove(&number)?.stream;
        self.families.remove(number);
        self.busy.remove(&stream);
        self.open(stream);
        Some(stream)
    }

    /// Ends the blocks of a launch, which ends unless launches by its kernel have not ended.
    fn end_blocks(&mut self, number: u64) {
        if let Some(launch) = self.started.get_mut(&number) {
            launch.ended = true;
        }
        if !self.families.is_working(number) {
            let stream = self.remove(number);
            stream.into_iter().for_each(|stream| self.settle(stream));
        }
    }

    /// Returns the streams whose first work can begin, in order.
    fn ready(&self, may_launch: bool) -> impl Iterator<Item = (OpenPlace, StreamId)> {
        let open = self.open.iter().map(|(place, stream)| (*place, *stream));
        open.take_while(move |((is_launch, ..), _)| may_launch || !is_launch).filter(|(_, stream)| {
            let head = self.queues.get(stream).and_then(VecDeque::front);
            head.is_some_and(|head| self.is_ready(*stream, head))
        })
    }

    /// Removes the first work that can begin. The stream is not open then.
    fn pop(&mut self, may_launch: bool) -> Option<(StreamId, QueuedWork)> {
        let may_launch = may_launch && self.free_slot().is_some();
        let (place, stream) = self.ready(may_launch).next()?;
        self.open.remove(&place);
        let queue = self.queues.get_mut(&stream)?;
        let work = queue.pop_front()?;
        if queue.is_empty() {
            self.queues.remove(&stream);
        }
        Some((stream, work))
    }

    fn is_ready(&self, stream: StreamId, head: &QueuedWork) -> bool {
        let has_earlier = |other: StreamId| self.first(other).is_some_and(|first| first < head.number);
        let waits = match stream {
            StreamId::DEFAULT => self.blocking().any(has_earlier),
            _ => stream.is_blocking() && has_earlier(StreamId::DEFAULT),
        };
        !waits
            && self
                .families
                .tail(stream)
                .is_none_or(|(parent, is_last)| is_last && self.has_ended_blocks(parent))
            && head.after.is_none_or(|number| !self.records.contains(&number))
    }

    fn has_ended_blocks(&self, number: u64) -> bool {
        self.started.get(&number).is_none_or(|launch| launch.ended)
    }

    /// Returns the number of a stream's earliest work that has not ended.
    fn first(&self, stream: StreamId) -> Option<u64> {
        let started = self.busy.get(&stream).copied();
        started.or_else(|| Some(self.queues.get(&stream)?.front()?.number))
    }

    /// Returns the blocking streams with work, without the default stream. Streams of launches by kernels do not block.
    fn blocking(&self) -> impl Iterator<Item = StreamId> {
        let of_program = ..StreamId(FIRST_STREAM);
        let queued = self.queues.range(of_program).map(|(stream, _)| *stream);
        let started = self.busy.range(of_program).map(|(stream, _)| *stream);
        queued.chain(started).filter(|stream| stream.is_blocking() && *stream != StreamId::DEFAULT)
    }

    fn free_slot(&self) -> Option<u8> {
        let is_free = |slot: &u8| self.slots.get(slot).is_none_or(|number| self.has_ended_blocks(*number));
        (0..self.most).find(is_free)
    }

    /// Ends the launch in a kernel slot, whose requests `memory` may still have.
    pub fn end(&mut self, slot: u8, memory: &mut DeviceMemory) {
        self.take_requests(memory);
        if let Some(number) = self.slots.get(&slot).copied() {
            self.end_blocks(number);
        }
    }

    /// Ends all launches that have started, in a run that starts one after another. Before that, begins all other work that does not wait
    /// for them, and notes whether a launch could have started.
    ///
    /// # Errors
    /// As [`Streams::proceed`].
    pub fn end_all(
        &mut self,
        device: &mut Device,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> f64,
    ) -> Result<(), DeviceError> {
        let begun = self.proceed(device, memory, false, now);
        let running: Vec<u64> =
            self.started.iter().filter(|(_, launch)| !launch.ended).map(|(number, _)| *number).collect();
        self.overlaps |= !running.is_empty() && self.ready(true).any(|((is_launch, ..), _)| is_launch);
        running.into_iter().for_each(|number| self.end_blocks(number));
        begun.map(drop)
    }

    /// Returns whether a launch could start before another one had ended.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        self.overlaps
    }

    /// Returns whether no launch runs.
    #[must_use]
    pub fn is_resting(&self) -> bool {
        self.started.values().all(|launch| launch.ended)
    }

    /// Returns whether kernels have launched kernels so far.
    #[must_use]
    pub fn has_family(&self) -> bool {
        self.families.is_used()
    }

    /// Returns whether all work for which a program waits has ended. The default stream includes the blocking streams.
    #[must_use]
    pub fn is_done(&self, target: SyncTarget) -> bool {
        match target {
            SyncTarget::Stream(StreamId::DEFAULT) => {
                self.first(StreamId::DEFAULT).is_none() && self.blocking().next().is_none()
            }
            SyncTarget::Stream(stream) => self.first(stream).is_none(),
            SyncTarget::Event(event) => self.event(event) != EventTime::Pending,
            SyncTarget::All => self.queues.is_empty() && self.started.is_empty(),
        }
    }

    /// Returns the state of an event.
    #[must_use]
    pub fn event(&self, event: u64) -> EventTime {
        match self.events.get(&event) {
            None => EventTime::Unknown,
            Some(EventRecord { at: None, .. }) => EventTime::Pending,
            Some(EventRecord { at: Some(at), .. }) => EventTime::At(*at),
        }
    }

    /// Returns the number of reads that have ended and were not taken.
    #[must_use]
    pub fn reads(&self) -> usize {
        self.reads.len()
    }

    /// Removes the bytes of the earliest read that has ended, with its ticket.
    pub fn take_read(&mut self) -> Option<(u64, Vec<u8>)> {
        self.reads.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::{DeviceOperation, LaunchOperation};
    use selvedge_gpu::config::GpuConfig;
    use selvedge_ptx::memory::HEAP_BASE;
    use selvedge_ptx::requests::{KernelRequest, RequestedLaunch};
    use std::sync::Arc;

    const TEXT: &str = ".version 7.8\n.target sm_60\n.address_size 64\n.visible .entry k() {\nret;\n}\n";
    const FIRST: StreamId = StreamId(2);
    const SECOND: StreamId = StreamId(4);
    const NON_BLOCKING: StreamId = StreamId(7);

    /// Returns a launch of `blocks` blocks, which identify it.
    fn requested(blocks: u32) -> RequestedLaunch {
        RequestedLaunch {
            kernel: "k".into(),
            grid: [blocks, 1, 1],
            block: [1, 1, 1],
            ..RequestedLaunch::default()
        }
    }

    /// Streams, their device, and the simulated time.
    struct Fixture {
        streams: Streams,
        device: Device,
        memory: DeviceMemory,
        now: f64,
    }

    impl Fixture {
        fn new() -> Self {
            let config = Arc::new(GpuConfig::load("gtx480").expect("built in"));
            let mut device = Device::new(&config, None, Arc::new(|| true));
            let mut memory = DeviceMemory::new();
            for operation in [
                DeviceOperation::Module { text: TEXT.into() },
                DeviceOperation::Allocate { address: HEAP_BASE, bytes: 4 },
            ] {
                device.apply(&operation, &mut memory).expect("valid");
            }
            Fixture { streams: Streams::new(4), device, memory, now: 0.0 }
        }

        fn push(&mut self, stream: StreamId, work: StreamWork) {
            self.streams.push(stream, work);
        }

        /// Adds a launch of `blocks` blocks, which identify it.
        fn launch(&mut self, stream: StreamId, blocks: u32) {
            let launch = LaunchOperation { module: 0, launch: requested(blocks) };
            self.push(stream, StreamWork::Operation(QueuedOperation::Launch(launch)));
        }

        fn end(&mut self, slot: u8) {
            self.streams.end(slot, &mut self.memory);
        }

        fn end_all(&mut self) {
            let Fixture { streams, device, memory, now } = self;
            streams.end_all(device, memory, &mut || *now).expect("valid");
        }

        /// Returns the blocks of each launch, in a run that starts one after another.
        fn in_order(&mut self) -> Vec<u32> {
            let mut all = Vec::new();
            loop {
                self.end_all();
                let Fixture { streams, device, memory, now } = self;
                let Some(launch) = streams.proceed(device, memory, true, &mut || *now).expect("valid") else {
                    return all;
                };
                all.push(launch.dims.grid[0]);
            }
        }

        /// Returns the blocks and the slot of each launch that can start now.
        fn started(&mut self) -> Vec<(u32, u8)> {
            let Fixture { streams, device, memory, now } = self;
            std::iter::from_fn(|| streams.proceed(device, memory, true, &mut || *now).expect("valid"))
                .map(|launch| (launch.dims.grid[0], launch.slot))
                .collect()
        }
    }

    #[test]
    fn launches_of_different_streams_start_together_and_those_of_a_stream_in_order() {
        let mut all = Fixture::new();
        for (stream, blocks) in [(FIRST, 1), (FIRST, 2), (SECOND, 3), (NON_BLOCKING, 4)] {
            all.launch(stream, blocks);
        }
        let Fixture { streams, device, memory, .. } = &mut all;
        assert!(streams.proceed(device, memory, false, &mut || 0.0).expect("valid").is_none(), "none may");
        assert_eq!(all.started(), [(1, 0), (3, 1), (4, 2)]);
        all.end(1);
        assert_eq!(all.started(), [], "the first stream is busy");
        all.end(0);
        assert_eq!(all.started(), [(2, 0)]);
        assert!(all.streams.is_done(SyncTarget::Stream(SECOND)));
        assert!(!all.streams.is_done(SyncTarget::Stream(FIRST)));
        assert!(!all.streams.is_done(SyncTarget::All));
        all.end_all();
        assert!(all.streams.is_done(SyncTarget::All));
    }

    #[test]
    fn the_default_stream_waits_for_blocking_streams_and_they_wait_for_it() {
        let mut all = Fixture::new();
        for (stream, blocks) in [(FIRST, 1), (StreamId::DEFAULT, 2), (SECOND, 3), (NON_BLOCKING, 4)] {
            all.launch(stream, blocks);
        }
        assert_eq!(all.started(), [(1, 0), (4, 1)]);
        assert!(!all.streams.is_done(SyncTarget::Stream(StreamId::DEFAULT)));
        all.end(0);
        assert_eq!(all.started(), [(2, 0)]);
        all.end(0);
        assert_eq!(all.started(), [(3, 0)]);
        all.end(0);
        assert!(
            all.streams.is_done(SyncTarget::Stream(StreamId::DEFAULT)),
            "the other stream does not count"
        );
    }

    #[test]
    fn a_stream_waits_for_the_record_of_an_event_before_the_wait() {
        let mut all = Fixture::new();
        let event = 9;
        all.push(SECOND, StreamWork::Wait { event });
        all.launch(FIRST, 1);
        all.push(FIRST, StreamWork::Record { event });
        all.launch(FIRST, 2);
        all.push(SECOND, StreamWork::Wait { event });
        all.launch(SECOND, 3);
        // The last record is another one, for which nothing waits.
        all.push(FIRST, StreamWork::Record { event });
        assert_eq!(all.started(), [(1, 0)]);
        all.now = 5.0;
        all.end(0);
        assert_eq!(all.started(), [(2, 0), (3, 1)]);
        assert_eq!(all.streams.event(event), EventTime::Pending);
        assert!(!all.streams.is_done(SyncTarget::Event(event)));
        all.now = 7.0;
        all.end(0);
        assert_eq!(all.started(), []);
        assert_eq!(all.streams.event(event), EventTime::At(7.0));
        assert!(all.streams.is_done(SyncTarget::Event(event)) && all.streams.is_done(SyncTarget::Event(1)));
        assert_eq!(all.streams.event(1), EventTime::Unknown);
    }

    #[test]
    fn a_run_in_order_knows_whether_launches_could_overlap() {
        // The third launch waits for the first, or for the second, too.
        for (after_both, overlaps) in [(false, true), (true, false)] {
            let mut all = Fixture::new();
            all.launch(FIRST, 1);
            if !after_both {
                all.push(FIRST, StreamWork::Record { event: 1 });
            }
            all.launch(FIRST, 2);
            if after_both {
                all.push(FIRST, StreamWork::Record { event: 1 });
            }
            all.push(SECOND, StreamWork::Wait { event: 1 });
            all.launch(SECOND, 3);
            assert_eq!(all.in_order(), [1, 2, 3]);
            assert_eq!(all.streams.overlaps(), overlaps);
        }
    }

    #[test]
    fn changes_and_reads_of_memory_keep_the_order_of_their_stream() {
        let mut all = Fixture::new();
        let rows = PitchedRows::one(HEAP_BASE, 1);
        let fill = |byte| StreamWork::Operation(QueuedOperation::Fill { rows, byte });
        all.push(FIRST, fill(1));
        all.launch(FIRST, 1);
        all.push(FIRST, StreamWork::Read { ticket: 5, rows });
        all.push(FIRST, fill(2));
        all.push(FIRST, StreamWork::Read { ticket: 6, rows });
        assert_eq!((all.started(), all.streams.reads()), (vec![(1, 0)], 0));
        all.end(0);
        assert_eq!((all.started(), all.streams.reads()), (vec![], 2));
        let read = [all.streams.take_read(), all.streams.take_read(), all.streams.take_read()];
        assert_eq!(read, [Some((5, vec![1])), Some((6, vec![2])), None]);
    }

    #[test]
    fn launches_of_streams_with_priority_start_first() {
        let mut all = Fixture::new();
        all.streams.set_priority(SECOND, 3);
        for number in 0..5 {
            all.launch(StreamId(100 + 2 * number), number as u32 + 1);
        }
        all.launch(SECOND, 9);
        assert_eq!(all.started(), [(9, 0), (1, 1), (2, 2), (3, 3)]);
    }

    #[test]
    fn no_more_launches_start_than_kernels_run_at_the_same_time() {
        let mut all = Fixture::new();
        let most = 4;
        (0..most + 2).for_each(|number| all.launch(StreamId(2 + 2 * u64::from(number)), number + 1));
        assert_eq!(all.started().len(), 4);
        all.end(3);
        assert_eq!(all.started(), [(most + 1, 3)]);
    }

    #[test]
    fn work_that_the_device_refuses_is_gone() {
        let mut all = Fixture::new();
        let rows = PitchedRows::one(HEAP_BASE, 5);
        all.push(FIRST, StreamWork::Operation(QueuedOperation::Fill { rows, byte: 1 }));
        all.launch(FIRST, 1);
        let Fixture { streams, device, memory, .. } = &mut all;
        assert!(streams.proceed(device, memory, true, &mut || 0.0).is_err(), "the buffer has 4 bytes");
        assert_eq!(all.started(), [(1, 0)]);
    }

    impl Fixture {
        /// Lets a kernel in a slot launch `blocks` blocks, which identify the launch.
        fn nested(&mut self, slot: u8, cta: u32, stream: u64, blocks: u32) {
            self.request(slot, cta, stream, RequestedWork::Launch(requested(blocks)));
        }

        fn request(&mut self, slot: u8, cta: u32, stream: u64, work: RequestedWork) {
            let request = KernelRequest { slot, cta: [cta, 0, 0], stream, work };
            self.memory.requests_mut().push(request);
        }
    }

    #[test]
    fn launches_of_a_block_start_in_order_and_end_before_their_launch_does() {
        let mut all = Fixture::new();
        all.launch(FIRST, 1);
        all.launch(FIRST, 9);
        assert_eq!(all.started(), [(1, 0)]);
        for (cta, blocks) in [(0, 2), (0, 3), (1, 4)] {
            all.nested(0, cta, 0, blocks);
        }
        assert_eq!(all.started(), [(2, 1), (4, 2)]);
        all.end(0);
        assert_eq!(all.started(), [], "the stream waits for the launches of the kernel");
        all.end(1);
        assert_eq!(all.started(), [(3, 0)]);
        // A launch by a kernel may launch, too, and its slot is that of its launching launch.
        all.nested(0, 0, 0, 5);
        all.end(2);
        all.end(0);
        assert_eq!(all.started(), [(5, 0)]);
        assert!(!all.streams.is_done(SyncTarget::Stream(FIRST)));
        all.end(0);
        assert_eq!(all.started(), [(9, 0)]);
        all.end(0);
        assert!(all.streams.is_done(SyncTarget::All) && all.streams.has_family());
    }

    #[test]
    fn streams_and_events_of_a_kernel_order_its_launches() {
        const TAIL: u64 = 3;
        const FORGET: u64 = 4;
        let mut all = Fixture::new();
        all.launch(FIRST, 1);
        assert_eq!(all.started(), [(1, 0)]);
        all.nested(0, 0, TAIL, 20);
        all.nested(0, 1, TAIL, 21);
        all.nested(0, 0, 100, 2);
        all.request(0, 0, 100, RequestedWork::Record(101));
        all.request(0, 0, 102, RequestedWork::Wait(101));
        all.nested(0, 0, 102, 3);
        all.nested(0, 0, FORGET, 4);
        all.nested(0, 0, FORGET, 5);
        assert_eq!(all.started(), [(2, 1), (4, 2), (5, 3)]);
        all.end(1);
        assert_eq!(all.started(), [(3, 1)], "the event is recorded");
        all.end(0);
        all.end(2);
        all.end(3);
        assert_eq!(all.started(), [], "a tail launch waits for all others");
        all.end(1);
        assert_eq!(all.started(), [(20, 0)]);
        all.end(0);
        assert_eq!(all.started(), [(21, 0)]);
        all.end(0);
        assert!(all.streams.is_done(SyncTarget::All));
    }

    #[test]
    fn a_run_in_order_notes_that_launches_by_kernels_could_overlap() {
        for (stream, overlaps) in [(0, true), (3, false)] {
            let mut all = Fixture::new();
            all.launch(FIRST, 1);
            all.launch(FIRST, 9);
            assert_eq!(all.started(), [(1, 0)]);
            all.nested(0, 0, stream, 2);
            all.nested(0, 0, stream, 3);
            assert_eq!(all.in_order(), [2, 3, 9]);
            assert_eq!(all.streams.overlaps(), overlaps, "stream {stream}");
        }
    }

    #[test]
    fn a_refused_launch_by_a_kernel_does_not_keep_its_launch() {
        let mut all = Fixture::new();
        all.launch(FIRST, 1);
        assert_eq!(all.started(), [(1, 0)]);
        all.nested(0, 0, 0, 0);
        all.end(0);
        let Fixture { streams, device, memory, .. } = &mut all;
        assert!(streams.proceed(device, memory, true, &mut || 0.0).expect("kept").is_none());
        assert_eq!(streams.take_refused().len(), 1, "a grid without blocks");
        assert!(all.streams.is_done(SyncTarget::All));
    }
}
