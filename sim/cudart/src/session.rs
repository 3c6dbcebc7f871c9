//! A program that runs: its process, its calls, and what they do to the device.
mod host;

use crate::device::{Device, DeviceError};
use crate::fatbin;
use crate::operation::{LaunchOperation, Operation, Record, Rows};
use crate::protocol::{Call, Property, Reply, Request, error};
use host::{Host, Next};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::sm::launch::LaunchedKernel;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Kernel, LaunchDims};
use selvedge_ptx::texture::{AddressMode, ChannelKind, FilterMode, Texture};
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Takes a line about a call that failed.
type Say = dyn Fn(&str) + Send + Sync;

/// What becomes of a program's calls.
pub struct Settings {
    /// Keep a record of all operations.
    pub record: bool,
    /// Execute every launch a second time without timing, and compare.
    pub verify: bool,
    /// Give the program standard error for its standard output, which the command needs for itself.
    pub quiet: bool,
    /// Set by the outside to end the program.
    pub stop: Arc<AtomicBool>,
    /// How long the program may take.
    pub timeout: Option<Duration>,
    /// Gets a line about each call that fails.
    pub say: Arc<Say>,
}

/// A program that was started; its calls wait until a [`Session`] serves them.
pub struct Live {
    name: String,
    arguments: String,
    settings: Settings,
    deadline: Option<Instant>,
    host: Mutex<Option<Host>>,
    /// What the session has left.
    ended: Mutex<Option<Ended>>,
}

/// What is left of a program.
#[derive(Debug, Default)]
pub struct Ended {
    /// Its operations, where they were to be kept.
    pub record: Option<Record>,
    /// Calls that it made.
    pub calls: u64,
}

/// Why a session cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// Something that the program does not cause: the comparison of two executions.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The outside has ended it.
    #[error("the program was stopped")]
    Stopped,
    /// Its time is over.
    #[error("the program takes more than {0:?}")]
    TimedOut(Duration),
    /// Its process.
    #[error("the CUDA program: {0}")]
    Process(#[from] io::Error),
    /// It cannot run twice.
    #[error("the CUDA program runs once, and it has run")]
    Again,
}

/// How a program ended that did not end well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program ended with {0}")]
pub struct BadEnd(String);

impl Live {
    /// Starts a program that finds the library in place of NVIDIA's.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(program: &Path, arguments: &[OsString], settings: Settings) -> io::Result<Self> {
        let host = Host::start(program, arguments, settings.quiet)?;
        let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
        let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
        let deadline = settings.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let (host, ended) = (Mutex::new(Some(host)), Mutex::default());
        Ok(Live { name, arguments: words.join(" "), settings, deadline, host, ended })
    }

    /// The program's name, without folders.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its arguments, in one line.
    #[must_use]
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// What the session has left, once.
    pub fn take_ended(&self) -> Option<Ended> {
        lock(&self.ended).take()
    }

    /// The program's operations, once it has ended, where they were to be kept.
    #[must_use]
    pub fn record(&self) -> Option<Record> {
        lock(&self.ended).as_ref()?.record.clone()
    }

    /// Returns why the program must not go on, if so.
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

/// A refused call: CUDA's error, and why.
struct Refused {
    code: i32,
    why: String,
}

impl From<DeviceError> for Refused {
    fn from(error: DeviceError) -> Self {
        Refused { code: error.code(), why: error.to_string() }
    }
}

impl Refused {
    fn new(code: i32, why: impl ToString) -> Self {
        Refused { code, why: why.to_string() }
    }
}

/// A program's calls, served one after the other.
pub struct Session {
    live: Arc<Live>,
    host: Host,
    device: Device,
    /// The kernels that the program has asked for: the module and the name.
    kernels: Vec<(usize, Arc<Kernel>)>,
    /// The newest architecture of the program's PTX.
    architecture: u32,
    /// Most bytes of device memory.
    capacity: u64,
    textures: u64,
    record: Option<Record>,
    calls: u64,
    /// The function whose launch is in flight.
    in_flight: Option<String>,
}

impl Session {
    /// Begins to serve a program on a device of this configuration.
    ///
    /// # Errors
    /// It was served before.
    pub fn new(live: &Arc<Live>, config: &Arc<GpuConfig>, capacity: u64) -> Result<Self, SessionError> {
        let host = lock(&live.host).take().ok_or(SessionError::Again)?;
        let settings = &live.settings;
        let empty =
            || Record { name: live.name.clone(), arguments: live.arguments.clone(), ..Record::default() };
        Ok(Session {
            device: Device::new(config, settings.verify.then_some(capacity), Arc::clone(&settings.stop)),
            record: settings.record.then(empty),
            live: Arc::clone(live),
            host,
            kernels: Vec::new(),
            architecture: 0,
            capacity,
            textures: 0,
            calls: 0,
            in_flight: None,
        })
    }

    /// Lets the program go on up to its next launch, after the end of the last one; none when it has ended. `cycle` is the
    /// simulated core cycle.
    ///
    /// # Errors
    /// What ends the program from outside, and a difference between the timed and the untimed execution.
    pub fn next(
        &mut self,
        memory: &mut DeviceMemory,
        cycle: u64,
    ) -> Result<Option<LaunchedKernel>, SessionError> {
        self.device.compare(memory)?;
        if self.in_flight.take().is_some() {
            let bytes = memory.take_printed().text.into_bytes();
            self.reply(&Reply { bytes, ..Reply::default() });
        }
        loop {
            let live = Arc::clone(&self.live);
            let request = match self.host.receive(&|| live.must_stop().is_some()) {
                Next::Request(request) => request,
                Next::End => return Ok(None),
                Next::Stopped => return Err(self.live.must_stop().unwrap_or(SessionError::Stopped)),
            };
            self.calls += 1;
            match self.serve(&request, memory, cycle) {
                Ok(Served::Reply(reply)) => self.reply(&reply),
                Ok(Served::Launch(launch)) => {
                    self.in_flight = Some(request.name);
                    return Ok(Some(*launch));
                }
                Err(refused) => {
                    (self.live.settings.say)(&format!("{}: {}", request.name, refused.why));
                    self.reply(&Reply { code: refused.code, ..Reply::default() });
                }
            }
        }
    }

    /// Gives the program this error of CUDA's for its launch and for every later call: no device recovers from a fault, and what
    /// ends a run ends its calls. Then ends the program, unless it does so soon by itself.
    pub fn fail(&mut self, code: i32) {
        if self.in_flight.take().is_some() {
            self.reply(&Reply { code, is_last: true, ..Reply::default() });
        }
        // How it ends says nothing any more.
        let _ = self.host.finish(&|| true);
        self.leave();
    }

    /// Leaves the record and the count of calls to the outside.
    fn leave(&mut self) {
        *lock(&self.live.ended) = Some(Ended { record: self.record.take(), calls: self.calls });
    }

    /// Waits for the end of the program, which makes no more calls, or ends it when the outside wants that.
    ///
    /// # Errors
    /// It has not ended well.
    pub fn finish(&mut self) -> Result<(), BadEnd> {
        let live = Arc::clone(&self.live);
        let status = self.host.finish(&|| live.must_stop().is_some());
        self.leave();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(BadEnd(in_words(status))),
            Err(error) => Err(BadEnd(error.to_string())),
        }
    }

    /// A program that has gone needs no reply.
    fn reply(&mut self, reply: &Reply) {
        self.host.reply(reply);
    }

    /// Does an operation and notes it.
    fn apply(
        &mut self,
        operation: Operation,
        memory: &mut DeviceMemory,
    ) -> Result<Option<LaunchedKernel>, DeviceError> {
        let launch = self.device.apply(&operation, memory)?;
        self.note(operation);
        Ok(launch)
    }

    fn note(&mut self, operation: Operation) {
        if let Some(record) = &mut self.record {
            record.operations.push(operation);
        }
    }

    fn serve(&mut self, request: &Request, memory: &mut DeviceMemory, cycle: u64) -> Result<Served, Refused> {
        let unknown = || Refused::new(error::NOT_SUPPORTED, "the library is of another release of Selvedge");
        let call = Call::of(request.call).ok_or_else(unknown)?;
        let words = &request.words;
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let rows = || Rows { address: word(0), pitch: word(1), width: word(2), height: word(3) };
        let reply = match call {
            Call::Module => self.load(&request.bytes, memory)?,
            Call::Kernel => self.find_kernel(word(0) as usize, &request.bytes)?,
            Call::Symbol => self.find_symbol(word(0) as usize, &request.bytes)?,
            Call::Allocate => {
                let operation = self.device.allocate(word(0), word(1), memory)?;
                let Operation::Allocate { address, .. } = operation else { return Err(unknown()) };
                self.note(operation);
                numbers(vec![address])
            }
            Call::Free => {
                self.apply(Operation::Free { address: word(0) }, memory)?;
                Reply::default()
            }
            Call::Write => {
                let bytes = request.bytes.clone();
                self.apply(Operation::Write { rows: rows(), bytes }, memory)?;
                Reply::default()
            }
            Call::Read => Reply { bytes: self.device.read(rows(), memory)?, ..Reply::default() },
            Call::Fill => {
                self.apply(Operation::Fill { rows: rows(), byte: word(4) as u8 }, memory)?;
                Reply::default()
            }
            Call::Copy => {
                let to = Rows { address: word(0), pitch: word(1), width: word(4), height: word(5) };
                self.apply(Operation::Copy { to, from: word(2), pitch: word(3) }, memory)?;
                Reply::default()
            }
            Call::Launch => return self.launch(words, &request.bytes, memory),
            Call::Now => {
                let nanoseconds = cycle as f64 * 1e9 / self.device.config().core_hz();
                numbers(vec![nanoseconds.to_bits()])
            }
            Call::Device => numbers(self.properties()),
            Call::MemoryInfo => numbers(vec![self.capacity - memory.used(), self.capacity]),
            Call::Texture => self.make_texture(words, memory)?,
            Call::Occupancy => self.occupancy(words)?,
        };
        Ok(Served::Reply(reply))
    }

    fn load(&mut self, bytes: &[u8], memory: &mut DeviceMemory) -> Result<Reply, Refused> {
        let found = fatbin::ptx(bytes).map_err(|error| Refused::new(error::NO_KERNEL_IMAGE, error))?;
        self.apply(Operation::Module { text: found.text }, memory)?;
        self.architecture = self.architecture.max(found.architecture);
        Ok(numbers(vec![self.device.modules() as u64 - 1]))
    }

    fn find_kernel(&mut self, module: usize, name: &[u8]) -> Result<Reply, Refused> {
        let name = String::from_utf8_lossy(name).into_owned();
        let kernel = self.device.kernel(module, &name);
        let kernel = kernel.ok_or(DeviceError::NoKernel { module, kernel: name })?;
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

    fn find_symbol(&self, module: usize, name: &[u8]) -> Result<Reply, Refused> {
        let name = String::from_utf8_lossy(name);
        let why = || {
            Refused::new(error::INVALID_SYMBOL, format!("there is no variable `{name}` in module {module}"))
        };
        let symbol = self.device.symbol(module, &name).ok_or_else(why)?;
        Ok(numbers(vec![symbol.address, symbol.bytes]))
    }

    /// The kernel of that number and the shape of its launch, from the numbers of a call.
    fn launch(&mut self, words: &[u64], params: &[u8], memory: &mut DeviceMemory) -> Result<Served, Refused> {
        let [number, gx, gy, gz, bx, by, bz, shared] = *words else {
            return Err(Refused::new(error::INVALID_VALUE, "a launch without its numbers"));
        };
        let (module, kernel) = self.kernel(number)?;
        let operation = LaunchOperation {
            module,
            kernel: kernel.name.clone(),
            grid: [gx, gy, gz].map(|side| side as u32),
            block: [bx, by, bz].map(|side| side as u32),
            dynamic_shared: u32::try_from(shared).unwrap_or(u32::MAX),
            params: params.to_vec(),
        };
        let launched = self.apply(Operation::Launch(operation), memory)?;
        launched
            .map(|launched| Served::Launch(Box::new(launched)))
            .ok_or_else(|| Refused::new(error::LAUNCH_FAILURE, "nothing was launched"))
    }

    fn kernel(&self, number: u64) -> Result<(usize, Arc<Kernel>), Refused> {
        let found = usize::try_from(number).ok().and_then(|number| self.kernels.get(number));
        let (module, kernel) =
            found.ok_or_else(|| Refused::new(error::INVALID_DEVICE_FUNCTION, "no such kernel"))?;
        // Its constants may have changed since it was found.
        Ok((*module, self.device.kernel(*module, &kernel.name).unwrap_or_else(|| Arc::clone(kernel))))
    }

    fn occupancy(&self, words: &[u64]) -> Result<Reply, Refused> {
        let [number, threads, shared] = *words else {
            return Err(Refused::new(error::INVALID_VALUE, "an occupancy query without its numbers"));
        };
        let (_, kernel) = self.kernel(number)?;
        let mut dims = LaunchDims::new([1, 1, 1], [u32::try_from(threads).unwrap_or(u32::MAX), 1, 1]);
        dims.dynamic_shared = u32::try_from(shared).unwrap_or(u32::MAX);
        let params = vec![0; kernel.param_bytes as usize];
        let config = self.device.config();
        // What does not fit an SM has an occupancy of zero; that is no error.
        let ctas = LaunchedKernel::new(kernel, dims, params, 0, config)
            .map_or(0, |launch| launch.most_ctas(&config.sm));
        Ok(numbers(vec![ctas.into()]))
    }

    /// The numbers of [`Property`], in its order.
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
        put(Property::CoreKhz, u64::from(config.clock.core_mhz) * 1000);
        put(Property::MemoryKhz, u64::from(config.clock.dram_mhz) * 1000);
        put(Property::BusBits, u64::from(l2.partitions) * u64::from(dram.bus_bytes) * 8);
        put(Property::L2Bytes, l2_bytes);
        put(Property::Architecture, self.architecture.into());
        out
    }

    fn make_texture(&mut self, words: &[u64], memory: &mut DeviceMemory) -> Result<Reply, Refused> {
        let [address, pitch, kind, bits, channels, normalized, outside, filter, ref size @ ..] = *words
        else {
            return Err(Refused::new(error::INVALID_VALUE, "a texture without its numbers"));
        };
        let kind = match kind {
            0 => ChannelKind::Signed,
            1 => ChannelKind::Unsigned,
            2 => ChannelKind::Float,
            3 => ChannelKind::SignedNormalized,
            _ => ChannelKind::UnsignedNormalized,
        };
        let address_mode = match outside {
            0 => AddressMode::Wrap,
            1 => AddressMode::Clamp,
            2 => AddressMode::Mirror,
            _ => AddressMode::Border,
        };
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
        // The memories give the same handle, which is what the operation gives when it is replayed.
        let handle = DeviceMemory::texture_handle(self.textures);
        self.apply(Operation::Texture { texture }, memory)?;
        self.textures += 1;
        Ok(numbers(vec![handle]))
    }
}

/// What became of a call.
enum Served {
    Reply(Reply),
    Launch(Box<LaunchedKernel>),
}

fn numbers(words: Vec<u64>) -> Reply {
    Reply { words, ..Reply::default() }
}

fn in_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
