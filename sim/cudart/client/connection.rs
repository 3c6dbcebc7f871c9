//! The way to the simulator: a socket, over which each call waits for its reply.
use crate::Done;
use crate::protocol::{Call, Reply, SOCKET, error, send_request};
use std::io::Write;
use std::os::unix::net::UnixStream;

/// The connection to the simulator.
#[derive(Default)]
pub struct Connection {
    stream: Option<UnixStream>,
    /// The error of all calls from now on, once the simulator has gone.
    failed: Option<i32>,
    /// The function of CUDA's that is being called.
    pub name: &'static str,
}

/// Writes a line to standard error, where one that cannot be written is nobody's loss.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "selvedge: {line}");
}

impl Connection {
    /// Makes a call and returns its reply.
    ///
    /// # Errors
    /// CUDA's code for what the simulator refuses, or for a simulator that is not there.
    pub fn call(&mut self, call: Call, words: &[u64], bytes: &[u8]) -> Done<Reply> {
        if let Some(code) = self.failed {
            return Err(code);
        }
        let name = self.name;
        let Some(stream) = self.stream() else { return Err(error::INITIALIZATION) };
        let reply = send_request(stream, call, name, words, bytes).and_then(|()| Reply::receive(stream));
        let reply = reply.unwrap_or(Reply { code: error::LAUNCH_FAILURE, is_last: true, ..Reply::default() });
        if reply.is_last {
            self.failed = Some(reply.code);
            self.stream = None;
        }
        if reply.code == 0 { Ok(reply) } else { Err(reply.code) }
    }

    /// As [`Connection::call`], for the numbers of the reply alone, so many at least.
    pub fn numbers(&mut self, call: Call, words: &[u64], bytes: &[u8], count: usize) -> Done<Vec<u64>> {
        let numbers = self.call(call, words, bytes)?.words;
        if numbers.len() < count { Err(error::LAUNCH_FAILURE) } else { Ok(numbers) }
    }

    /// The stream, connected at the first call.
    fn stream(&mut self) -> Option<&mut UnixStream> {
        if self.stream.is_none() {
            let found = std::env::var_os(SOCKET).map(UnixStream::connect);
            match found {
                Some(Ok(stream)) => self.stream = Some(stream),
                Some(Err(why)) => {
                    say(&format!(
                        "no simulator serves this process ({why}): it serves one process of a program"
                    ));
                    self.failed = Some(error::INITIALIZATION);
                }
                None => {
                    say("this is Selvedge's CUDA runtime: run the program by `selvedge cuda -- PROGRAM`");
                    self.failed = Some(error::INITIALIZATION);
                }
            }
        }
        self.stream.as_mut()
    }
}
