//! Runs a CUDA program: its process, its calls, and their effects on the device.
mod host;
mod process;

use crate::device::{Device, DeviceError, GoesOn};
use crate::fatbin;
use crate::operation::{
    DeviceOperation, LaunchOperation, PitchedRows, ProgramRecord, QueuedOperation, StreamId, SyncTarget,
};
use crate::protocol::{Call, CallReply, CallRequest, PIECE_BYTES, Property, error, sync};
use crate::refusals::Refusals;
use crate::streams::{EventTime, LaunchStart, StreamWork, Streams};
use host::{HostEvent, HostProcess, Stop};
use selvedge_gpu::config::{BUILT_IN, GpuConfig};
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Kernel, LaunchDims, link};
use selvedge_ptx::requests::RequestedLaunch;
use selvedge_ptx::texture::{AddressMode, ChannelKind, FilterMode, Texture};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Least compute capability that a program without PTX sees: ten times the major number, plus the minor number. Compilers of today
/// support no older one.
const LEAST_ARCHITECTURE: u32 = 60;

/// Receives a line about a failed call.
type Say = dyn Fn(&str) + Send + Sync;

/// Options of a session.
pub struct SessionSettings {
    /// Records all operations.
    pub record: bool,
    /// Executes each launch a second time without timing, and compares the results.
    pub verify: bool,
    /// Redirects the program's standard output to standard error, because the command uses standard output.
    pub quiet: bool,
    /// Flag that ends the program.
    pub stop: Arc<AtomicBool>,
    /// Max wall-clock time of the program.
    pub timeout: Option<Duration>,
    /// Called with a line about each failed call.
    pub say: Arc<Say>,
}

/// A started program. Its calls wait until a [`Session`] serves them.
pub struct StartedProgram {
    name: String,
    arguments: String,
    settings: SessionSettings,
    deadline: Option<Instant>,
    host: Mutex<Option<HostProcess>>,
    /// Results of the session after its end.
    ended: Mutex<Option<ProgramResults>>,
}

/// Results of a program.
#[derive(Debug, Default)]
pub struct ProgramResults {
    /// Operations of the program, if they were recorded.
    pub record: Option<ProgramRecord>,
    /// Number of calls that it made.
    pub calls: u64,
}

/// Reasons for which a session ends early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The second execution of a launch differs, or another error that the program does not cause.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The stop flag ended the program.
    #[error("the program was stopped")]
    Stopped,
    /// The program exceeded its timeout.
    #[error("the program takes more than {0:?}")]
    TimedOut(Duration),
    /// The process of the program failed.
    #[error("the CUDA program: {0}")]
    Process(#[from] io::Error),
    /// The program has already run.
    #[error("the CUDA program runs once, and it has run")]
    Again,
}

/// Description of an end other than exit code 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program ended with {0}")]
pub struct BadEnd(String);

impl StartedProgram {
    /// Starts a program with the runtime library that replaces NVIDIA's.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(program: &Path, arguments: &[OsString], settings: SessionSettings) -> io::Result<Self> {
        let host = HostProcess::start(program, arguments, settings.quiet)?;
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let deadline = settings.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let (host, ended) = (Mutex::new(Some(host)), Mutex::default());
        Ok(StartedProgram { name, arguments: words.join(" "), settings, deadline, host, ended })
    }

    /// Returns the file name of the program.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the arguments, joined by spaces.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Returns the results of the session, and removes them.
    pub fn take_ended(&self) -> Option<ProgramResults> {
        lock(&self.ended).take()
    }

    /// Returns the recorded operations after the program's end, if they were recorded.
    #[must_use]
    pub fn record(&self) -> Option<ProgramRecord> {
        lock(&self.ended).as_ref()?.record.clone()
    }

    /// Returns the reason for which the command ends the program.
    fn stop_by(&self) -> Stop {
        if self.settings.stop.load(Ordering::Relaxed) { Stop::Signal } else { Stop::Over }
    }

    /// Returns the error if the program must stop.
    fn must_stop(&self) -> Option<SessionError> {
        if self.settings.stop.load(Ordering::Relaxed) {
            return Some(SessionError::Stopped);
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        late.then(|| SessionError::TimedOut(self.settings.timeout.unwrap_or_default()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// CUDA's error code and the reason of a refused call.
struct RefusedCall {
    code: i32,
    why: String,
}

impl From<DeviceError> for RefusedCall {
    fn from(error: DeviceError) -> Self {
        RefusedCall { code: error.code(), why: error.to_string() }
    }
}

impl RefusedCall {
    fn new(code: i32, why: impl ToString) -> Self {
        RefusedCall { code, why: why.to_string() }
    }
}

/// A call that waits for work.
struct WaitingCall {
    /// CUDA function.
    name: String,
    target: SyncTarget,
}

/// Next step of a program.
pub enum SessionStep {
    /// A launch starts now.
    Launch(Box<LaunchedKernel>),
    /// Nothing can start before a launch ends.
    Await,
    /// The program makes no more calls, and all work has ended.
    End,
}

/// Serves the calls of a program in order.
pub struct Session {
    live: Arc<StartedProgram>,
    host: HostProcess,
    device: Device,
    /// Kernels that the program has looked up, each with the index of its module.
    kernels: Vec<(usize, Arc<Kernel>)>,
    /// Newest architecture of the program's PTX.
    architecture: u32,
    /// Max device memory in bytes.
    capacity: u64,
    textures: u64,
    record: Option<ProgramRecord>,
    calls: u64,
    streams: Streams,
    /// Call that waits for work.
    waiting: Option<WaitingCall>,
    /// Error of queued work, for the next call that waits.
    late: Option<RefusedCall>,
    /// `true` after the last call of the program.
    is_over: bool,
    /// Work that was refused to the program.
    refusals: Refusals,
    /// Result of the program's end.
    ended: Option<Result<(), BadEnd>>,
}

impl Session {
    /// Starts to serve a program, on a device of this configuration.
    ///
    /// # Errors
    /// The program was served before.
    pub fn new(
        live: &Arc<StartedProgram>,
        config: &Arc<GpuConfig>,
        capacity: u64,
    ) -> Result<Self, SessionError> {
        let host = lock(&live.host).take().ok_or(SessionError::Again)?;
        let settings = &live.settings;
        let empty = || ProgramRecord {
            name: live.name.clone(),
            arguments: live.arguments.clone(),
            ..ProgramRecord::default()
        };
        let goes_on: GoesOn = {
            let live = Arc::clone(live);
            Arc::new(move || live.must_stop().is_none())
        };
        Ok(Session {
            device: Device::new(config, settings.verify.then_some(capacity), goes_on),
            record: settings.record.then(empty),
            live: Arc::clone(live),
            host,
            kernels: Vec::new(),
            architecture: 0,
            capacity,
            textures: 0,
            calls: 0,
            streams: Streams::new(config.sm.concurrent_launches),
            waiting: None,
            late: None,
            is_over: false,
            refusals: Refusals::default(),
            ended: None,
        })
    }

    /// Ends the launches in flight and serves calls up to the next launch. Returns `None` after the program's end. `now` returns
    /// the current core cycle.
    ///
    /// # Errors
    /// A stop, the timeout, or a difference between the timed and the untimed execution.
    pub fn next(
        &mut self,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<Option<LaunchedKernel>, SessionError> {
        let hz = self.device.config().core_hz();
        if let Err(error) = self.streams.end_all(&mut self.device, memory, &mut || now() as f64 * 1e9 / hz) {
            self.fail_late(error.into());
        }
        match self.beside(LaunchStart::AtWait, memory, now)? {
            SessionStep::Launch(launch) => Ok(Some(*launch)),
            SessionStep::Await | SessionStep::End => Ok(None),
        }
    }

    /// Serves calls up to the next step, while launches may be in flight. `now` returns the current core cycle.
    ///
    /// # Errors
    /// The errors of [`Session::next`].
    pub fn beside(
        &mut self,
        start: LaunchStart,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> u64,
    ) -> Result<SessionStep, SessionError> {
        if self.streams.is_resting() {
            self.device.compare(memory)?;
        }
        let hz = self.device.config().core_hz();
        let mut now = move || now() as f64 * 1e9 / hz;
        loop {
            if let Some(launch) = self.begin(start == LaunchStart::Now, memory, &mut now) {
                return Ok(SessionStep::Launch(Box::new(launch)));
            }
            if let Some(waiting) = self.waiting.take_if(|waiting| self.streams.is_done(waiting.target)) {
                self.end_wait(&waiting, memory);
            } else if start == LaunchStart::AtWait && (self.is_over || self.waiting.is_some()) {
                if let Some(launch) = self.begin(true, memory, &mut now) {
                    return Ok(SessionStep::Launch(Box::new(launch)));
                }
                // Refused launches have ended.
                if self.waiting.as_ref().is_some_and(|waiting| self.streams.is_done(waiting.target)) {
                    continue;
                }
            }
            if self.waiting.is_some() {
                return Ok(SessionStep::Await);
            }
            if self.is_over {
                let is_done = self.streams.is_done(SyncTarget::All);
                return Ok(if is_done { SessionStep::End } else { SessionStep::Await });
            }
            let live = Arc::clone(&self.live);
            let request = match self.host.receive(&|| live.must_stop().is_some()) {
                HostEvent::Request(request) => request,
                HostEvent::End => {
                    self.is_over = true;
                    continue;
                }
                HostEvent::Stopped => return Err(self.live.must_stop().unwrap_or(SessionError::Stopped)),
            };
            self.calls += 1;
            match self.serve(&request, memory, &mut now) {
                Ok(Served::Reply(reply)) => self.reply(&reply),
                Ok(Served::Wait(target)) => self.waiting = Some(WaitingCall { name: request.name, target }),
                Err(refused) => self.refuse(&request.name, &refused),
            }
        }
    }

    /// Returns whether launches of different streams could run at the same time so far.
    #[must_use]
    pub fn overlaps(&self) -> bool {
        self.streams.overlaps()
    }

    /// Begins queued work, and returns the launch that starts, if any.
    fn begin(
        &mut self,
        may_launch: bool,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> f64,
    ) -> Option<LaunchedKernel> {
        loop {
            let begun = self.streams.proceed(&mut self.device, memory, may_launch, now);
            self.streams.take_refused().into_iter().for_each(|error| self.fail_late(error.into()));
            match begun {
                Ok(launch) => return launch,
                Err(error) => self.fail_late(error.into()),
            }
        }
    }

    /// Returns whether kernels have launched kernels so far.
    #[must_use]
    pub fn has_family(&self) -> bool {
        self.streams.has_family()
    }

    /// Ends a launch in flight by its kernel slot.
    pub fn end(&mut self, slot: u8, memory: &mut DeviceMemory) {
        self.streams.end(slot, memory);
    }

    /// Replies to a call that has waited.
    fn end_wait(&mut self, waiting: &WaitingCall, memory: &mut DeviceMemory) {
        if let Some(late) = self.late.take() {
            return self.refuse(&waiting.name, &late);
        }
        let (words, bytes) = (vec![self.streams.reads() as u64], memory.take_printed().text.into_bytes());
        self.reply(&CallReply { words, bytes, ..CallReply::default() });
    }

    /// Keeps the error of queued work for the call that waits, or for the next one. The call still waits for all its work.
    fn fail_late(&mut self, refused: RefusedCall) {
        self.late.get_or_insert(refused);
    }

    /// Refuses a call, and reports it unless the run must stop.
    fn refuse(&mut self, name: &str, refused: &RefusedCall) {
        if self.live.must_stop().is_some() {
            // The next call of `receive` reports the stop.
            let code = error::LAUNCH_FAILURE;
            return self.reply(&CallReply { code, is_last: true, ..CallReply::default() });
        }
        self.refusals.add(name, &refused.why);
        (self.live.settings.say)(&format!("{name}: {}", refused.why));
        self.reply(&CallReply { code: refused.code, ..CallReply::default() });
    }

    /// Returns CUDA error `code` for the call that waits and all later calls: a device does not recover from a fault. Then ends
    /// the program, unless it ends within a grace period.
    pub fn fail(&mut self, code: i32) {
        if self.waiting.take().is_some() {
            self.reply(&CallReply { code, is_last: true, ..CallReply::default() });
        }
        // The exit status has no meaning after a failure.
        let by = self.live.stop_by();
        let _ = self.host.finish(&|| Some(by));
        self.leave();
    }

    /// Stores the record and the number of calls in `live`.
    fn leave(&mut self) {
        self.refusals.extend(&self.host.take_refusals());
        if let Some(record) = &mut self.record
            && self.refusals.total() > 0
        {
            record.operations.push(DeviceOperation::Refused(self.refusals.clone()));
        }
        *lock(&self.live.ended) = Some(ProgramResults { record: self.record.take(), calls: self.calls });
    }

    /// Waits for the end of a program that makes no more calls. A stop or the timeout ends it.
    ///
    /// # Errors
    /// The program was stopped, or exceeded its timeout.
    pub fn finish(&mut self) -> Result<(), SessionError> {
        if self.ended.is_some() {
            return Ok(());
        }
        let live = Arc::clone(&self.live);
        let status = self.host.finish(&|| live.must_stop().map(|_| live.stop_by()));
        self.leave();
        self.ended = Some(match status {
            Ok(Some(status)) if status.success() => Ok(()),
            Ok(Some(status)) => Err(BadEnd(in_words(status))),
            Ok(None) => return Err(live.must_stop().unwrap_or(SessionError::Stopped)),
            Err(error) => Err(BadEnd(error.to_string())),
        });
        Ok(())
    }

    /// Returns the result of the program's end.
    ///
    /// # Errors
    /// Any end other than exit code 0.
    pub fn verdict(&self) -> Result<(), BadEnd> {
        self.ended.clone().unwrap_or(Ok(()))
    }

    /// Returns the refused work. The list is complete after the program's end.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Sends a reply; a program that has ended needs none.
    fn reply(&mut self, reply: &CallReply) {
        let live = Arc::clone(&self.live);
        self.host.reply(reply, &|| live.must_stop().is_some());
    }

    /// Applies and records an operation.
    fn apply(
        &mut self,
        operation: DeviceOperation,
        memory: &mut DeviceMemory,
    ) -> Result<Option<LaunchedKernel>, DeviceError> {
        let launch = self.device.apply(&operation, memory)?;
        self.note(operation);
        Ok(launch)
    }

    fn note(&mut self, operation: DeviceOperation) {
        if let Some(record) = &mut self.record {
            record.operations.push(operation);
        }
    }

    fn serve(
        &mut self,
        request: &CallRequest,
        memory: &mut DeviceMemory,
        now: &mut dyn FnMut() -> f64,
    ) -> Result<Served, RefusedCall> {
        let unknown =
            || RefusedCall::new(error::NOT_SUPPORTED, "the library is of another release of Selvedge");
        let call = Call::of(request.call).ok_or_else(unknown)?;
        let stream = request.stream.map(StreamId);
        let words = &request.words;
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let rows = || PitchedRows { address: word(0), pitch: word(1), width: word(2), height: word(3) };
        let reply = match call {
            Call::Module => self.load(&request.bytes, memory)?,
            Call::Kernel => self.find_kernel(word(0) as usize, &request.bytes)?,
            Call::Symbol => self.find_symbol(word(0) as usize, &request.bytes)?,
            Call::Allocate => {
                let operation = self.device.allocate(word(0), word(1), memory)?;
                let DeviceOperation::Allocate { address, .. } = operation else { return Err(unknown()) };
                self.note(operation);
                numbers(vec![address])
            }
            Call::Free => {
                self.apply(DeviceOperation::Free { address: word(0) }, memory)?;
                CallReply::default()
            }
            Call::Write => {
                let bytes = request.bytes.clone();
                self.change(stream, QueuedOperation::Write { rows: rows(), bytes }, memory)?
            }
            Call::Read => {
                let rows = rows();
                if rows.width.checked_mul(rows.height).is_none_or(|bytes| bytes > PIECE_BYTES) {
                    let why = format!("a piece of more than {PIECE_BYTES} bytes");
                    return Err(RefusedCall::new(error::INVALID_VALUE, why));
                }
                CallReply { bytes: self.device.read(rows, memory)?, ..CallReply::default() }
            }
            Call::Check => {
                self.device.check(rows(), memory)?;
                CallReply::default()
            }
            Call::Refused => {
                self.refusals.add(&request.name, &String::from_utf8_lossy(&request.bytes));
                CallReply::default()
            }
            Call::Hello => return Err(unknown()),
            Call::Fill => {
                self.change(stream, QueuedOperation::Fill { rows: rows(), byte: word(4) as u8 }, memory)?
            }
            Call::Copy => {
                let to = PitchedRows { address: word(0), pitch: word(1), width: word(4), height: word(5) };
                self.change(stream, QueuedOperation::Copy { to, from: word(2), pitch: word(3) }, memory)?
            }
            Call::Launch => return self.launch(stream, words, &request.bytes, memory),
            Call::Now => numbers(vec![now().to_bits()]),
            Call::ReadLater => {
                self.device.check(rows(), memory)?;
                let work = StreamWork::Read { ticket: word(4), rows: rows() };
                self.streams.push(stream.unwrap_or(StreamId::DEFAULT), work);
                CallReply::default()
            }
            Call::RecordEvent => {
                let (stream, event) = (stream.unwrap_or(StreamId::DEFAULT), word(0));
                self.note(DeviceOperation::Record { stream, event });
                self.streams.push(stream, StreamWork::Record { event });
                CallReply::default()
            }
            Call::WaitEvent => {
                let (stream, event) = (stream.unwrap_or(StreamId::DEFAULT), word(0));
                self.note(DeviceOperation::Wait { stream, event });
                self.streams.push(stream, StreamWork::Wait { event });
                CallReply::default()
            }
            Call::Priority => {
                let (stream, priority) = (stream.unwrap_or(StreamId::DEFAULT), word(0).min(255) as u8);
                self.note(DeviceOperation::Priority { stream, priority });
                self.streams.set_priority(stream, priority);
                CallReply::default()
            }
            Call::EventTime => match self.streams.event(word(0)) {
                EventTime::At(at) => numbers(vec![at.to_bits()]),
                EventTime::Pending => CallReply { code: error::NOT_READY, ..CallReply::default() },
                EventTime::Unknown => {
                    return Err(RefusedCall::new(error::INVALID_HANDLE, "the event was never recorded"));
                }
            },
            Call::Synchronize => {
                let target = match word(0) {
                    sync::STREAM => SyncTarget::Stream(StreamId(word(1))),
                    sync::EVENT => SyncTarget::Event(word(1)),
                    _ => SyncTarget::All,
                };
                self.note(DeviceOperation::Synchronize(target));
                return Ok(Served::Wait(target));
            }
            Call::TakeRead => {
                let none = || RefusedCall::new(error::INVALID_VALUE, "no read has ended");
                let (ticket, bytes) = self.streams.take_read().ok_or_else(none)?;
                CallReply { words: vec![ticket], bytes, ..CallReply::default() }
            }
            Call::Device => numbers(self.properties()),
            Call::MemoryInfo => numbers(vec![self.capacity - memory.used(), self.capacity]),
            Call::Texture => self.make_texture(words, memory)?,
            Call::Occupancy => self.occupancy(words)?,
        };
        Ok(Served::Reply(reply))
    }

    /// Changes memory now, or when a stream comes to it.
    fn change(
        &mut self,
        stream: Option<StreamId>,
        work: QueuedOperation,
        memory: &mut DeviceMemory,
    ) -> Result<CallReply, RefusedCall> {
        let Some(stream) = stream else {
            self.apply(work.into(), memory)?;
            return Ok(CallReply::default());
        };
        self.device.check_work(&work, memory)?;
        if self.record.is_some() {
            self.note(DeviceOperation::Queue { stream, work: work.clone() });
        }
        self.streams.push(stream, StreamWork::Operation(work));
        Ok(CallReply::default())
    }

    fn load(&mut self, bytes: &[u8], memory: &mut DeviceMemory) -> Result<CallReply, RefusedCall> {
        let mut found =
            fatbin::ptx(bytes).map_err(|error| RefusedCall::new(error::NO_KERNEL_IMAGE, error))?;
        let own = found.iter().filter(|one| !one.is_device_runtime());
        let architecture = own.map(|one| one.architecture).max();
        let text = match &mut found[..] {
            [one] => std::mem::take(&mut one.text),
            several => {
                let names: Vec<String> = (1..=several.len()).map(|number| format!("file {number}")).collect();
                let files: Vec<(&str, &str)> = names
                    .iter()
                    .zip(several.iter())
                    .map(|(name, one)| (name.as_str(), one.text.as_str()))
                    .collect();
                link(&files).map_err(DeviceError::from)?
            }
        };
        self.apply(DeviceOperation::Module { text }, memory)?;
        self.architecture = self.architecture.max(architecture.unwrap_or_default());
        Ok(numbers(vec![self.device.modules() as u64 - 1]))
    }

    fn find_kernel(&mut self, module: usize, name: &[u8]) -> Result<CallReply, RefusedCall> {
        let name = String::from_utf8_lossy(name).into_owned();
        let kernel = self.device.kernel(module, &name)?;
        let most_threads = kernel.cta_limit.map_or(1024, |(sides, _)| sides.iter().product());
        let mut words = vec![
            self.kernels.len() as u64,
            kernel.registers.min(self.device.config().sm.registers_per_thread).into(),
            kernel.shared_bytes.into(),
            kernel.local_bytes.into(),
            kernel.constants.len() as u64,
            most_threads.into(),
            self.architecture.into(),
        ];
        words.extend(kernel.params.iter().flat_map(|param| [param.offset, param.bytes].map(u64::from)));
        self.kernels.push((module, kernel));
        Ok(numbers(words))
    }

    fn find_symbol(&self, module: usize, name: &[u8]) -> Result<CallReply, RefusedCall> {
        let name = String::from_utf8_lossy(name);
        let why = || {
            RefusedCall::new(
                error::INVALID_SYMBOL,
                format!("there is no variable `{name}` in module {module}"),
            )
        };
        let symbol = self.device.symbol(module, &name).ok_or_else(why)?;
        Ok(numbers(vec![symbol.address, symbol.bytes]))
    }

    /// Launches a kernel. `words` has its index, grid, block, dynamic shared memory and cluster; zeros: as the kernel demands. Without a
    /// stream, the call waits for its end.
    fn launch(
        &mut self,
        stream: Option<StreamId>,
        words: &[u64],
        params: &[u8],
        memory: &DeviceMemory,
    ) -> Result<Served, RefusedCall> {
        let [number, gx, gy, gz, bx, by, bz, shared, cx, cy, cz] = *words else {
            return Err(RefusedCall::new(error::INVALID_VALUE, "a launch without its numbers"));
        };
        let (module, kernel) = self.kernel(number)?;
        let cluster = [cx, cy, cz].map(|side| side as u32);
        let launch = RequestedLaunch {
            kernel: kernel.name.clone(),
            grid: [gx, gy, gz].map(|side| side as u32),
            block: [bx, by, bz].map(|side| side as u32),
            cluster: (cluster != [0; 3]).then_some(cluster),
            dynamic_shared: u32::try_from(shared).unwrap_or(u32::MAX),
            params: params.to_vec(),
        };
        let work = QueuedOperation::Launch(LaunchOperation { module, launch });
        // Otherwise the call that waits gets the error.
        if stream.is_some() || self.record.is_some() {
            self.device.check_work(&work, memory)?;
        }
        if self.record.is_some() {
            self.note(match stream {
                Some(stream) => DeviceOperation::Queue { stream, work: work.clone() },
                None => work.clone().into(),
            });
        }
        let target = stream.unwrap_or(StreamId::DEFAULT);
        self.streams.push(target, StreamWork::Operation(work));
        // The second execution is compared after each launch.
        let waits = stream.is_none() || self.live.settings.verify;
        if waits && stream.is_some() {
            self.note(DeviceOperation::Synchronize(SyncTarget::Stream(target)));
        }
        Ok(if waits { Served::Wait(SyncTarget::Stream(target)) } else { Served::Reply(CallReply::default()) })
    }

    fn kernel(&self, number: u64) -> Result<(usize, Arc<Kernel>), RefusedCall> {
        let found = usize::try_from(number).ok().and_then(|number| self.kernels.get(number));
        let (module, kernel) =
            found.ok_or_else(|| RefusedCall::new(error::INVALID_DEVICE_FUNCTION, "no such kernel"))?;
        // Looks the kernel up again, because its constants may have changed.
        Ok((*module, self.device.kernel(*module, &kernel.name).unwrap_or_else(|_| Arc::clone(kernel))))
    }

    fn occupancy(&self, words: &[u64]) -> Result<CallReply, RefusedCall> {
        let [number, threads, shared, cx, cy, cz] = *words else {
            return Err(RefusedCall::new(error::INVALID_VALUE, "an occupancy query without its numbers"));
        };
        let (_, kernel) = self.kernel(number)?;
        let cluster = match [cx, cy, cz] {
            [0, 0, 0] => kernel.cluster.unwrap_or([1; 3]),
            sides => sides.map(|side| u32::try_from(side).unwrap_or(u32::MAX)),
        };
        let mut dims = LaunchDims::new(cluster, [u32::try_from(threads).unwrap_or(u32::MAX), 1, 1]);
        dims.cluster = cluster;
        dims.dynamic_shared = u32::try_from(shared).unwrap_or(u32::MAX);
        let params = vec![0; kernel.param_bytes as usize];
        let config = self.device.config();
        // A block that does not fit in an SM has an occupancy of 0, which is not an error.
        let launch = LaunchedKernel::new(kernel, dims, params, 0, config).ok();
        let [ctas, clusters] =
            launch.map_or([0; 2], |launch| [launch.most_ctas(&config.sm), launch.most_clusters(&config.sm)]);
        Ok(numbers([ctas, clusters, dims.cluster_ctas()].map(u64::from).to_vec()))
    }

    /// Returns the values of all [`Property`]s, in order.
    fn properties(&self) -> Vec<u64> {
        let config = self.device.config();
        let (sm, l2, dram) = (&config.sm, &config.l2, &config.dram);
        let l2_bytes =
            u64::from(l2.all_slices()) * u64::from(l2.sets) * u64::from(l2.ways) * u64::from(l2.line_bytes);
        let mut out = vec![0; Property::Count as usize];
        let mut put = |property: Property, value: u64| out[property as usize] = value;
        put(Property::Memory, self.capacity);
        put(Property::Sms, sm.count.into());
        put(Property::SharedBytes, sm.shared_bytes.into());
        put(Property::Registers, sm.registers.into());
        put(Property::Threads, sm.threads.into());
        put(Property::Blocks, sm.ctas.into());
        put(Property::ClusterBlocks, sm.cluster.ctas.into());
        put(Property::CoreKhz, u64::from(config.clock.core_mhz) * 1000);
        // CUDA states the memory clock as if each cycle had two transfers.
        put(Property::MemoryKhz, u64::from(config.clock.dram_mhz) * u64::from(dram.data_rate) * 500);
        put(Property::BusBits, u64::from(l2.partitions) * u64::from(dram.bus_bytes) * 8);
        put(Property::L2Bytes, l2_bytes);
        // A program that compiles its PTX at run time asks before it loads any.
        let own = BUILT_IN.iter().find(|built_in| built_in.name == config.name);
        let own = own.and_then(|built_in| built_in.capability).unwrap_or_default().max(LEAST_ARCHITECTURE);
        put(Property::Architecture, if self.architecture == 0 { own } else { self.architecture }.into());
        out
    }

    fn make_texture(&mut self, words: &[u64], memory: &mut DeviceMemory) -> Result<CallReply, RefusedCall> {
        let [address, pitch, kind, bits, channels, normalized, outside, filter, ref size @ ..] = *words
        else {
            return Err(RefusedCall::new(error::INVALID_VALUE, "a texture without its numbers"));
        };
        let kind = match kind {
            0 => ChannelKind::Signed,
            1 => ChannelKind::Unsigned,
            2 => ChannelKind::Float,
            3 => ChannelKind::SignedNormalized,
            _ => ChannelKind::UnsignedNormalized,
        };
        let address_mode = address_mode(outside);
        let texture = Texture {
            address,
            size: size.iter().map(|side| u32::try_from(*side).unwrap_or(u32::MAX)).collect(),
            pitch,
            kind,
            bits: bits as u8,
            channels: channels as u8,
            normalized: normalized != 0,
            address_mode,
            filter: if filter == 0 { FilterMode::Point } else { FilterMode::Linear },
        };
        // All memories number their textures in the same order, so a replay returns the same handle.
        let handle = DeviceMemory::texture_handle(self.textures);
        self.apply(DeviceOperation::Texture { texture }, memory)?;
        self.textures += 1;
        Ok(numbers(vec![handle]))
    }
}

/// Result of a served call.
enum Served {
    Reply(CallReply),
    /// Replies when the work has ended.
    Wait(SyncTarget),
}

fn numbers(words: Vec<u64>) -> CallReply {
    CallReply { words, ..CallReply::default() }
}

fn in_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// Converts a value of CUDA's `cudaTextureAddressMode`.
fn address_mode(number: u64) -> AddressMode {
    match number {
        0 => AddressMode::Wrap,
        1 => AddressMode::Clamp,
        2 => AddressMode::Mirror,
        _ => AddressMode::Border,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_modes_have_the_numbers_of_the_cuda_runtime() {
        // Values of cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror and cudaAddressModeBorder in driver_types.h.
        let modes = [AddressMode::Wrap, AddressMode::Clamp, AddressMode::Mirror, AddressMode::Border];
        assert_eq!([0, 1, 2, 3].map(address_mode), modes);
    }
}
