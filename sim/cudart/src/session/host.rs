//! The process of a CUDA program, and the socket that its calls come by.
use crate::libraries;
use crate::protocol::{Reply, Request, SOCKET};
use std::ffi::OsString;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time between two looks for an end of program or run.
const LOOK: Duration = Duration::from_millis(50);
/// The same before the first call, which every run waits for.
const FIRST_LOOK: Duration = Duration::from_millis(1);
/// Time that a program has to end by itself once its run is over.
const GRACE: Duration = Duration::from_secs(2);

/// A process and its socket.
pub struct Host {
    child: Child,
    /// Until the program has connected.
    listener: Option<UnixListener>,
    stream: Option<UnixStream>,
    /// Libraries and socket.
    _folder: TempDir,
}

/// What comes next from a program.
pub enum Next {
    /// A call.
    Request(Request),
    /// It has ended, or makes no more calls.
    End,
    /// The outside wants an end.
    Stopped,
}

impl Host {
    /// Starts a program with the libraries first in its search path. With `quiet` its standard output goes to standard error.
    pub fn start(program: &Path, arguments: &[OsString], quiet: bool) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("selvedge-cuda-").tempdir()?;
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
        command.args(arguments).env("LD_LIBRARY_PATH", search).env(SOCKET, &socket);
        if quiet {
            command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
        }
        let child = command.spawn()?;
        Ok(Host { child, listener: Some(listener), stream: None, _folder: folder })
    }

    /// Waits for the next call.
    pub fn receive(&mut self, stopped: &dyn Fn() -> bool) -> Next {
        if let Some(next) = self.connect(stopped) {
            return next;
        }
        let Some(stream) = &mut self.stream else { return Next::End };
        let mut patient = Patient { stream, stopped, was_stopped: false };
        match Request::receive(&mut patient) {
            Ok(request) => Next::Request(request),
            Err(_) if patient.was_stopped => Next::Stopped,
            Err(_) => {
                self.stream = None;
                Next::End
            }
        }
    }

    /// Waits for the program to connect, where it has not; what comes instead.
    fn connect(&mut self, stopped: &dyn Fn() -> bool) -> Option<Next> {
        let listener = self.listener.as_ref()?;
        let stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(_) if stopped() => return Some(Next::Stopped),
                Err(_) => {}
            }
            if !matches!(self.child.try_wait(), Ok(None)) {
                return Some(Next::End);
            }
            std::thread::sleep(FIRST_LOOK);
        };
        // A second process would wait for ever: it finds no socket.
        self.listener = None;
        let is_ready = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(LOOK)));
        self.stream = is_ready.ok().map(|()| stream);
        None
    }

    /// Sends a reply; a program that has gone needs none.
    pub fn reply(&mut self, reply: &Reply) {
        if let Some(stream) = &mut self.stream
            && reply.send(stream).is_err()
        {
            self.stream = None;
        }
    }

    /// Waits for the program's end without serving calls; ends it when the outside wants that, after a moment.
    pub fn finish(&mut self, stopped: &dyn Fn() -> bool) -> io::Result<ExitStatus> {
        (self.stream, self.listener) = (None, None);
        let mut since = None;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if stopped() && since.get_or_insert_with(Instant::now).elapsed() >= GRACE {
                self.child.kill()?;
                return self.child.wait();
            }
            std::thread::sleep(FIRST_LOOK);
        }
    }
}

impl Drop for Host {
    /// Leaves no program behind.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Reads from a socket until the outside wants an end.
struct Patient<'a> {
    stream: &'a mut UnixStream,
    stopped: &'a dyn Fn() -> bool,
    was_stopped: bool,
}

impl Read for Patient<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(into) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                other => return other,
            }
            if (self.stopped)() {
                self.was_stopped = true;
                return Err(ErrorKind::Other.into());
            }
        }
    }
}
