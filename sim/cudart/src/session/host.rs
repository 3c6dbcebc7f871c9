//! The process of a CUDA program, and the socket for its calls.
use super::process::{self, Terminal};
use crate::libraries;
use crate::protocol::{Call, CallReply, CallRequest, SOCKET, late};
use crate::refusals::Refusals;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Interval between checks for the end of the program or of the run.
const LOOK: Duration = Duration::from_millis(50);
/// Shorter interval before the first call, which delays each run.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// Time for the program to end after its run.
const GRACE: Duration = Duration::from_secs(2);
/// Time for the first message of a connection.
const GREETING: Duration = Duration::from_secs(1);
/// Number of the signal that Ctrl-C sends.
const SIGINT: i32 = 2;
/// Name for a failed connection in the list of refusals.
const CONNECTION: &str = "(connection)";

/// A process, its children and its socket.
pub struct HostProcess {
    /// Leader of the program's process group.
    child: Child,
    listener: UnixListener,
    socket: PathBuf,
    stream: Option<UnixStream>,
    /// `true` after the first process has connected. Only that process is served.
    is_taken: bool,
    /// Id of the served process, if it is `child` or a descendant.
    served: Option<u32>,
    terminal: Terminal,
    /// Calls that the library has refused, and lost connections.
    refusals: Refusals,
    /// Folder for the libraries and the socket, private to this user.
    _folder: TempDir,
}

/// Next event of a program.
pub enum HostEvent {
    Request(CallRequest),
    /// The program has ended, or makes no more calls.
    End,
    /// The run must stop.
    Stopped,
}

/// Reason for which the command ends a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The run has ended; the program has some time to end.
    Over,
    /// A signal ended the run; the program gets it as well.
    Signal,
}

impl HostProcess {
    /// Starts a program with the libraries first in its search path. With `quiet`, its standard output goes to standard error.
    pub fn start(program: &Path, arguments: &[OsString], quiet: bool) -> io::Result<Self> {
        let only_mine = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix("selvedge-cuda-").permissions(only_mine).tempdir()?;
        libraries::write(folder.path())?;
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket)?;
        listener.set_nonblocking(true)?;
        let mut search = folder.path().as_os_str().to_owned();
        if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|before| !before.is_empty()) {
            search.push(":");
            search.push(before);
        }
        let mut command = Command::new(program);
        // Children join the group, and end with it.
        command.args(arguments).env("LD_LIBRARY_PATH", search).env(SOCKET, &socket).process_group(0);
        if quiet {
            command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
        }
        let child = command.spawn()?;
        let terminal = Terminal::new(child.id());
        Ok(HostProcess {
            child,
            listener,
            socket,
            stream: None,
            is_taken: false,
            served: None,
            terminal,
            refusals: Refusals::default(),
            _folder: folder,
        })
    }

    /// Waits for the next call.
    pub fn receive(&mut self, stopped: &dyn Fn() -> bool) -> HostEvent {
        if stopped() {
            return HostEvent::Stopped;
        }
        if !self.is_taken
            && let Some(next) = self.connect(stopped)
        {
            return next;
        }
        let Some(mut stream) = self.stream.take() else { return HostEvent::End };
        let mut patient = Patient::new(self, &mut stream, stopped);
        let received = CallRequest::receive(&mut patient);
        let was_stopped = patient.was_stopped;
        match received {
            Ok(Some(request)) => {
                self.terminal.take();
                self.stream = Some(stream);
                HostEvent::Request(request)
            }
            Ok(None) => HostEvent::End,
            Err(_) if was_stopped => {
                self.stream = Some(stream);
                HostEvent::Stopped
            }
            Err(error) => {
                self.refusals.add(CONNECTION, &format!("it was lost within a call: {error}"));
                HostEvent::End
            }
        }
    }

    /// Waits for the program to connect. Returns the event that comes before that, if any.
    fn connect(&mut self, stopped: &dyn Fn() -> bool) -> Option<HostEvent> {
        let mut has_ended = false;
        loop {
            self.greet_all();
            if self.is_taken {
                return None;
            }
            if has_ended {
                return Some(HostEvent::End);
            }
            if stopped() {
                return Some(HostEvent::Stopped);
            }
            self.terminal.look();
            // Checks for a connection once more after the program has ended.
            has_ended = !matches!(self.child.try_wait(), Ok(None));
            std::thread::sleep(FIRST_LOOK);
        }
    }

    /// Accepts all pending connections.
    fn greet_all(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            self.greet(stream);
        }
    }

    /// Serves the first connection. For other connections, records their messages as refusals.
    fn greet(&mut self, mut stream: UnixStream) {
        let is_ready = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(GREETING)));
        let first = is_ready.and_then(|()| CallRequest::receive(&mut stream));
        let Ok(Some(first)) = first else {
            return self.refusals.add(CONNECTION, "it has brought no message");
        };
        let id = first.words.first().copied().unwrap_or(0);
        match Call::of(first.call) {
            Some(Call::Hello) if !self.is_taken => {
                let waits =
                    stream.set_read_timeout(Some(LOOK)).and_then(|()| stream.set_write_timeout(Some(LOOK)));
                if waits.and_then(|()| fs::rename(&self.socket, late(&self.socket))).is_ok() {
                    self.served = u32::try_from(id).ok().filter(|id| process::is_of(*id, self.child.id()));
                    (self.stream, self.is_taken) = (Some(stream), true);
                }
            }
            Some(Call::Hello) => {
                self.refusals.add(&first.name, &format!("process {id} is not the one that is served"));
            }
            Some(Call::Refused) => self.refusals.add(&first.name, &String::from_utf8_lossy(&first.bytes)),
            _ => self.refusals.add(CONNECTION, "it has not begun as the library's do"),
        }
    }

    /// Checks for new connections, and for a program that waits for the terminal.
    fn look(&mut self) {
        self.greet_all();
        self.terminal.look();
    }

    /// Returns whether the served process has ended. Other processes may hold its connection open.
    fn is_gone(&self) -> bool {
        self.served.is_some_and(process::has_ended)
    }

    /// Sends a reply. Ignores the error if the program has ended.
    pub fn reply(&mut self, reply: &CallReply, stopped: &dyn Fn() -> bool) {
        let Some(mut stream) = self.stream.take() else { return };
        if reply.send(&mut Patient::new(self, &mut stream, stopped)).is_ok() {
            self.stream = Some(stream);
        }
    }

    /// Waits for the program's end without serving calls. After a stop, the program and its descendants are killed after a grace
    /// period. Returns `None` after a stop, or after Ctrl-C while the program has the terminal.
    pub fn finish(&mut self, stopped: &dyn Fn() -> Option<Stop>) -> io::Result<Option<ExitStatus>> {
        self.stream = None;
        let mut since = None;
        loop {
            self.look();
            let status = self.child.try_wait()?;
            let stop = stopped();
            if let Some(status) = status {
                self.look();
                if stop.is_some() {
                    process::kill_group(self.child.id());
                }
                // While the program has the terminal, only the program gets Ctrl-C.
                let is_interrupted = self.terminal.is_given() && status.signal() == Some(SIGINT);
                self.terminal.take();
                return Ok((stop.is_none() && !is_interrupted).then_some(status));
            }
            if let Some(stop) = stop {
                if since.is_none() && stop == Stop::Signal {
                    process::interrupt_group(self.child.id());
                }
                if since.get_or_insert_with(Instant::now).elapsed() >= GRACE {
                    process::kill_group(self.child.id());
                    self.child.wait()?;
                    self.look();
                    self.terminal.take();
                    return Ok(None);
                }
            }
            std::thread::sleep(FIRST_LOOK);
        }
    }

    /// Returns the work that was refused without the device, and clears the list.
    pub fn take_refusals(&mut self) -> Refusals {
        std::mem::take(&mut self.refusals)
    }
}

impl Drop for HostProcess {
    /// Kills the program and its group if it still runs.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            process::kill_group(self.child.id());
            let _ = self.child.wait();
        }
        self.terminal.take();
    }
}

/// Reads from a socket and writes to it, until a stop or the end of the program.
struct Patient<'a> {
    host: &'a mut HostProcess,
    stream: &'a mut UnixStream,
    stopped: &'a dyn Fn() -> bool,
    was_stopped: bool,
    is_gone: bool,
}

impl<'a> Patient<'a> {
    fn new(host: &'a mut HostProcess, stream: &'a mut UnixStream, stopped: &'a dyn Fn() -> bool) -> Self {
        Patient { host, stream, stopped, was_stopped: false, is_gone: false }
    }

    /// Repeats `work` until it succeeds. Returns `None` after the end of the program.
    fn wait<T>(&mut self, mut work: impl FnMut(&mut UnixStream) -> io::Result<T>) -> io::Result<Option<T>> {
        loop {
            match work(self.stream) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                other => return other.map(Some),
            }
            if (self.stopped)() {
                self.was_stopped = true;
                return Err(ErrorKind::Other.into());
            }
            self.host.look();
            if self.is_gone {
                return Ok(None);
            }
            // Tries once more after the end: the program may have left data.
            self.is_gone = self.host.is_gone();
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Ok(self.wait(|stream| stream.read(into))?.unwrap_or(0))
    }
}

impl Write for Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.wait(|stream| stream.write(bytes))?.unwrap_or(0))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
