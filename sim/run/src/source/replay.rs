//! Replays the operations of a recorded CUDA program, without the program.
use super::{RecordedProgram, SimFault};
use crate::error::RunError;
use selvedge_cudart::device::{Device, DeviceError};
use selvedge_cudart::operation::{DeviceOperation, QueuedOperation, StreamId, SyncTarget};
use selvedge_cudart::refusals::Refusals;
use selvedge_cudart::streams::{LaunchStart, StreamWork, Streams};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::gpu::StopWatch;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::DeviceMemory;
use std::sync::Arc;

/// A record, and the position of the replay in it.
pub(crate) struct Replay {
    program: Arc<RecordedProgram>,
    device: Device,
    streams: Streams,
    /// Work for which the program waits.
    waiting: Option<SyncTarget>,
    /// Index of the next operation.
    next: usize,
    /// Work that was refused to the program during the recording.
    refusals: Refusals,
    watch: StopWatch,
}

impl Replay {
    /// Returns a replay at its beginning. `watch` can end it.
    pub fn new(program: &Arc<RecordedProgram>, config: &Arc<GpuConfig>, watch: StopWatch) -> Self {
        let of_device = watch.clone();
        let goes_on = Arc::new(move || of_device.fault(|| 0).is_none());
        let device = Device::new(config, None, goes_on);
        Replay {
            program: Arc::clone(program),
            device,
            streams: Streams::new(config.sm.concurrent_launches),
            waiting: None,
            next: 0,
            refusals: Refusals::default(),
            watch,
        }
    }

    /// Returns the work that was refused to the program during the recording, up to the current operation.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Ends the launches in flight, applies the operations up to the next launch, and returns the launch. `now` returns the current core
    /// cycle.
    ///
    /// # Errors
    /// The device refuses an operation, such as a launch that is too large for the configuration; a signal; the timeout.
    pub fn next(
        &mut self,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        let ended = self.streams.end_all(&mut self.device, memory, &mut || 0.0);
        self.checked(ended, now)?;
        self.beside(LaunchStart::AtWait, memory, now)
    }

    /// Returns whether launches of different streams could run at the same time so far.
    pub fn overlaps(&self) -> bool {
        self.streams.overlaps()
    }

    /// Returns whether kernels have launched kernels so far.
    pub fn has_family(&self) -> bool {
        self.streams.has_family()
    }

    /// Ends a launch in flight by its kernel slot.
    pub fn end(&mut self, slot: u8, memory: &mut DeviceMemory) {
        self.streams.end(slot, memory);
    }

    /// Applies the operations up to the next launch, while launches may be in flight. Returns `None` if a launch must end first, or at
    /// the end of the record.
    ///
    /// # Errors
    /// The errors of [`Replay::next`].
    pub fn beside(
        &mut self,
        start: LaunchStart,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        let program = Arc::clone(&self.program);
        loop {
            if let Some(launch) = self.begin(start == LaunchStart::Now, memory, now)? {
                return Ok(Some(launch));
            }
            let has_waited = self.waiting.take_if(|target| self.streams.is_done(*target)).is_some();
            let is_over = self.next == program.record.operations.len();
            if start == LaunchStart::AtWait && !has_waited && (is_over || self.waiting.is_some()) {
                if let Some(launch) = self.begin(true, memory, now)? {
                    return Ok(Some(launch));
                }
                // Refused launches by kernels have ended.
                if self.waiting.is_some_and(|target| self.streams.is_done(target)) {
                    continue;
                }
            }
            let Some(operation) = program.record.operations.get(self.next).filter(|_| self.waiting.is_none())
            else {
                return Ok(None);
            };
            if let Some(fault) = self.watch.fault(&mut *now) {
                return Err(fault.into());
            }
            self.next += 1;
            match operation {
                DeviceOperation::Refused(refusals) => self.refusals.extend(refusals),
                DeviceOperation::Launch(launch) => {
                    let work = QueuedOperation::Launch(launch.clone());
                    self.streams.push(StreamId::DEFAULT, StreamWork::Operation(work));
                    self.waiting = Some(SyncTarget::Stream(StreamId::DEFAULT));
                }
                DeviceOperation::Queue { stream, work } => {
                    self.streams.push(*stream, StreamWork::Operation(work.clone()));
                }
                DeviceOperation::Record { stream, event } => {
                    self.streams.push(*stream, StreamWork::Record { event: *event });
                }
                DeviceOperation::Wait { stream, event } => {
                    self.streams.push(*stream, StreamWork::Wait { event: *event });
                }
                DeviceOperation::Synchronize(target) => self.waiting = Some(*target),
                DeviceOperation::Priority { stream, priority } => {
                    self.streams.set_priority(*stream, *priority);
                }
                operation => {
                    let applied = self.device.apply(operation, memory);
                    self.checked(applied, now)?;
                }
            }
        }
    }

    /// Begins queued work, and returns the launch that starts, if any. Nothing reads the times of the record's events.
    fn begin(
        &mut self,
        may_launch: bool,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<Option<LaunchedKernel>, RunError> {
        let launch = self.streams.proceed(&mut self.device, memory, may_launch, &mut || 0.0);
        // The record has the errors of launches by kernels among the refused work.
        self.streams.take_refused();
        self.checked(launch, now)
    }

    /// Converts an error of the device to an error of the run.
    fn checked<T>(
        &self,
        result: Result<T, DeviceError>,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<T, RunError> {
        result.map_err(|error| match error {
            DeviceError::Stopped => {
                let fault = self.watch.fault(&mut *now);
                fault.unwrap_or_else(|| SimFault::Interrupted { cycle: now() }).into()
            }
            error => error.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_cudart::operation::{LaunchOperation, PitchedRows, ProgramRecord};
    use selvedge_gpu::gpu::{Control, Limit};
    use selvedge_ptx::memory::HEAP_BASE;
    use selvedge_ptx::requests::RequestedLaunch;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    const TEXT: &str = ".version 7.8\n.target sm_60\n.address_size 64\n.visible .entry k() {\nret;\n}\n";

    #[test]
    fn every_launch_comes_once_and_finds_what_was_done_before_it() {
        let launch = |blocks| {
            let launch = RequestedLaunch {
                kernel: "k".into(),
                grid: [blocks, 1, 1],
                block: [1, 1, 1],
                ..RequestedLaunch::default()
            };
            DeviceOperation::Launch(LaunchOperation { module: 0, launch })
        };
        let fill = |byte| DeviceOperation::Fill { rows: PitchedRows::one(HEAP_BASE, 1), byte };
        let operations = vec![
            DeviceOperation::Module { text: TEXT.into() },
            DeviceOperation::Allocate { address: HEAP_BASE, bytes: 4 },
            fill(1),
            launch(1),
            fill(2),
            launch(2),
            fill(3),
        ];
        let record = ProgramRecord { operations, ..ProgramRecord::default() };
        let mut replay = replay(record, &Control::default());
        let mut memory = DeviceMemory::new();
        let mut seen = Vec::new();
        while let Some(launched) = replay.next(&mut memory, &mut || 0).expect("valid operations") {
            seen.push((launched.dims.grid[0], memory.bytes(HEAP_BASE, 1).expect("allocated")[0]));
        }
        assert_eq!(seen, [(1, 1), (2, 2)]);
        assert_eq!(memory.bytes(HEAP_BASE, 1).expect("allocated"), [3]);
    }

    fn replay(record: ProgramRecord, control: &Control) -> Replay {
        let program = Arc::new(RecordedProgram { file: None, record });
        Replay::new(&program, &Arc::new(GpuConfig::load("gtx480").expect("built in")), control.watch())
    }

    #[test]
    fn a_signal_and_a_timeout_end_what_comes_between_launches() {
        // A fill of every second byte takes long enough for a stop during the fill.
        let fill = |height| DeviceOperation::Fill {
            rows: PitchedRows { address: HEAP_BASE, pitch: 2, width: 1, height },
            byte: 1,
        };
        let bytes = 1 << 20;
        let operations =
            vec![DeviceOperation::Allocate { address: HEAP_BASE, bytes }, fill(bytes / 2), fill(1)];
        let record = ProgramRecord { operations, ..ProgramRecord::default() };
        let stop = Arc::new(AtomicBool::new(true));
        let stopped = replay(record.clone(), &Control::new(&stop, None, |_| {}))
            .next(&mut DeviceMemory::new(), &mut || 7);
        assert!(matches!(stopped, Err(RunError::Fault(SimFault::Interrupted { cycle: 7 }))));
        stop.store(false, Ordering::Relaxed);
        let late = Control::new(&stop, Some(Duration::from_nanos(1)), |_| {});
        let late = replay(record.clone(), &late).next(&mut DeviceMemory::new(), &mut || 8);
        assert!(matches!(
            late,
            Err(RunError::Fault(SimFault::Limited { limit: Limit::TimeoutS(_), cycle: 8 }))
        ));
        let mut whole = replay(record, &Control::default());
        assert!(whole.next(&mut DeviceMemory::new(), &mut || 0).expect("it comes to its end").is_none());
    }
}
