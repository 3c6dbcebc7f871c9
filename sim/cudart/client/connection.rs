//! The connection to the simulator: a socket, on which each call waits for its reply.
use crate::Done;
use crate::protocol::{Call, CallReply, PIECE_BYTES, SOCKET, error, late, send_request};
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

#[derive(Default)]
pub struct Connection {
    link: Option<Link>,
    /// Error of all later calls, after the connection has ended.
    failed: Option<i32>,
    /// Stream to whose work the calls belong; `None`: they take effect immediately.
    pub stream: Option<u64>,
    /// CUDA function of the current call.
    pub name: &'static str,
    /// `true` if the simulator knows the error of the current call.
    pub is_told: bool,
}

/// A socket and the identity of its file. The program may close all descriptors and then open another file with the same number.
struct Link {
    stream: UnixStream,
    identity: (u64, u64),
}

/// Writes a line to standard error. Ignores errors, such as a closed descriptor.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "selvedge: {line}");
}

/// Returns device and inode of a socket's descriptor; `None` if it is closed.
fn identity(stream: &UnixStream) -> Option<(u64, u64)> {
    // SAFETY: the file is not dropped, so that the stream keeps its descriptor.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(stream.as_raw_fd()) });
    file.metadata().ok().map(|facts| (facts.dev(), facts.ino()))
}

/// Reports a refused call to a simulator that does not serve this process, or has lost the connection.
pub fn leave_note(name: &str, code: i32, why: &str) {
    let Some(socket) = std::env::var_os(SOCKET).map(PathBuf::from) else { return };
    // The socket moves to this path when a process is served.
    let stream = UnixStream::connect(late(&socket)).or_else(|_| UnixStream::connect(&socket));
    if let Ok(stream) = stream {
        let _ = send_request(&mut Quiet(&stream), Call::Refused, None, name, &[code as u64], why.as_bytes());
    }
}

unsafe extern "C" {
    fn send(socket: c_int, from: *const c_void, bytes: usize, flags: c_int) -> isize;
}

/// Flag MSG_NOSIGNAL: SIGPIPE after a closed connection would end the program.
const NO_SIGNAL: c_int = 0x4000;

/// Writer to a socket without SIGPIPE.
struct Quiet<'a>(&'a UnixStream);

impl Write for Quiet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // SAFETY: the bytes are a slice's, and a descriptor that is none gives an error.
        let sent = unsafe { send(self.0.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), NO_SIGNAL) };
        usize::try_from(sent).map_err(|_| io::Error::last_os_error())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Link {
    /// Connects, and sends the id of this process.
    fn new(socket: PathBuf) -> io::Result<Self> {
        let stream = UnixStream::connect(socket)?;
        send_request(&mut Quiet(&stream), Call::Hello, None, "", &[std::process::id().into()], &[])?;
        let identity = identity(&stream).ok_or(ErrorKind::NotConnected)?;
        Ok(Link { stream, identity })
    }

    fn is_whole(&self) -> bool {
        identity(&self.stream) == Some(self.identity)
    }

    /// Drops the socket. Keeps a descriptor open that now belongs to another file.
    fn forget(self) {
        if !self.is_whole() {
            let _ = self.stream.into_raw_fd();
        }
    }
}

impl Connection {
    /// Makes a call and returns its reply.
    ///
    /// # Errors
    /// CUDA's error code of a refused call, or of a missing simulator.
    pub fn call(&mut self, call: Call, words: &[u64], bytes: &[u8]) -> Done<CallReply> {
        if let Some(code) = self.failed {
            self.is_told = true;
            return Err(code);
        }
        let name = self.name;
        self.connect()?;
        let Some(link) = &mut self.link else { return Err(error::INITIALIZATION) };
        if !link.is_whole() {
            return self.lose("the program has closed the connection to the simulator");
        }
        let sent = send_request(&mut Quiet(&link.stream), call, self.stream, name, words, bytes);
        if let Err(why) = &sent
            && why.kind() == ErrorKind::InvalidInput
        {
            say(&format!("{name}: {why}"));
            return Err(error::INVALID_VALUE);
        }
        match sent.and_then(|()| CallReply::receive(&mut link.stream)) {
            Ok(reply) => {
                if reply.is_last {
                    self.failed = Some(reply.code);
                    self.link = None;
                }
                self.is_told |= reply.code != 0;
                if reply.code == 0 { Ok(reply) } else { Err(reply.code) }
            }
            Err(why) => self.lose(&format!("the connection to the simulator was lost: {why}")),
        }
    }

    /// Ends the connection. All later calls fail.
    fn lose(&mut self, why: &str) -> Done<CallReply> {
        say(&format!("{}: {why}", self.name));
        if let Some(link) = self.link.take() {
            link.forget();
        }
        self.failed = Some(error::LAUNCH_FAILURE);
        self.is_told = true;
        leave_note(self.name, error::LAUNCH_FAILURE, &format!("{why}; so is every later call"));
        Err(error::LAUNCH_FAILURE)
    }

    /// Reports a call that the library has refused without the simulator.
    pub fn tell(&mut self, code: i32, why: &str) {
        if !self.is_told && self.failed.is_none() {
            let _ = self.call(Call::Refused, &[code as u64], why.as_bytes());
        }
    }

    /// Makes a call and returns the integers of its reply. A reply with less than `count` integers is an error.
    pub fn numbers(&mut self, call: Call, words: &[u64], bytes: &[u8], count: usize) -> Done<Vec<u64>> {
        let numbers = self.call(call, words, bytes)?.words;
        if numbers.len() < count { Err(error::LAUNCH_FAILURE) } else { Ok(numbers) }
    }

    /// Writes contiguous bytes to the device.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Done {
        for (at, piece) in (address..).step_by(PIECE_BYTES as usize).zip(bytes.chunks(PIECE_BYTES as usize)) {
            let size = piece.len() as u64;
            self.call(Call::Write, &[at, size, size, 1], piece)?;
        }
        Ok(())
    }

    /// Reads contiguous bytes from the device.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> Done {
        for (at, piece) in
            (address..).step_by(PIECE_BYTES as usize).zip(bytes.chunks_mut(PIECE_BYTES as usize))
        {
            let size = piece.len() as u64;
            let read = self.call(Call::Read, &[at, size, size, 1], &[])?.bytes;
            if read.len() != piece.len() {
                return Err(error::LAUNCH_FAILURE);
            }
            piece.copy_from_slice(&read);
        }
        Ok(())
    }

    fn connect(&mut self) -> Done {
        if self.link.is_some() {
            return Ok(());
        }
        let why = match std::env::var_os(SOCKET).map(|socket| Link::new(socket.into())) {
            Some(Ok(link)) => {
                self.link = Some(link);
                return Ok(());
            }
            Some(Err(why)) => {
                format!("no simulator serves this process ({why}): it serves one process of a program")
            }
            None => "this is Selvedge's CUDA runtime: run the program by `selvedge cuda -- PROGRAM`".into(),
        };
        say(&why);
        self.failed = Some(error::INITIALIZATION);
        self.is_told = true;
        leave_note(
            self.name,
            error::INITIALIZATION,
            "another process of the program is served; so is every later call",
        );
        Err(error::INITIALIZATION)
    }
}
