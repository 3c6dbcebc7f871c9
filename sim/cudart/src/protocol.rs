//! Messages between the runtime library in a CUDA program and the device that serves it. The library sends requests, the device
//! replies.
//!
//! A request has a call, the stream to whose work it belongs, the name of the CUDA function, integers and bytes. A reply has a CUDA error code, integers and bytes.
//! Both sides come from the same build: the protocol has one version.
//!
//! Each connection begins with [`Call::Hello`]. The device serves the first connection, and then moves its socket to [`late`]. A
//! later connection can only report a call that it cannot make ([`Call::Refused`]).
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Environment variable with the path of the device's socket, for the library.
pub const SOCKET: &str = "SELVEDGE_CUDA_SOCKET";

/// Returns the path to which the socket moves after the first connection.
pub fn late(socket: &Path) -> PathBuf {
    socket.with_file_name("late")
}

/// Max bytes of a copy in one message; longer copies are split.
pub const PIECE_BYTES: u64 = 16 << 20;

/// Max size of a fat binary in bytes.
pub const MODULE_BYTES: u64 = 1 << 30;

/// First letters of the names of the kernels that replace NVIDIA's in cuBLAS. A letter for the type of the elements follows.
pub const CUBLAS_KERNELS: &str = "selvedge_cublas_";

/// Max number of integers in a message.
const MOST_WORDS: u64 = 1 << 16;

/// Max length of a function name in bytes.
const MOST_NAME_BYTES: u64 = 256;

/// First integer of [`Call::Synchronize`].
pub mod sync {
    /// All work of a stream.
    pub const STREAM: u64 = 0;
    /// The last record of an event.
    pub const EVENT: u64 = 1;
    /// All work.
    pub const ALL: u64 = 2;
}

/// CUDA error codes that the simulator returns.
pub mod error {
    /// An argument is wrong (`cudaErrorInvalidValue`).
    pub const INVALID_VALUE: i32 = 1;
    /// Memory is exhausted.
    pub const MEMORY_ALLOCATION: i32 = 2;
    /// The library has no device.
    pub const INITIALIZATION: i32 = 3;
    /// The dimensions of a launch are unsupported by any device.
    pub const INVALID_CONFIGURATION: i32 = 9;
    /// A module has no such variable.
    pub const INVALID_SYMBOL: i32 = 13;
    /// A module has no such kernel.
    pub const INVALID_DEVICE_FUNCTION: i32 = 98;
    /// A fat binary has no PTX.
    pub const NO_KERNEL_IMAGE: i32 = 209;
    /// The PTX cannot be executed.
    pub const INVALID_PTX: i32 = 218;
    /// A stream, event or module is unknown.
    pub const INVALID_HANDLE: i32 = 400;
    /// An event waits for earlier work.
    pub const NOT_READY: i32 = 600;
    /// A kernel accessed memory outside of its buffers.
    pub const ILLEGAL_ADDRESS: i32 = 700;
    /// A block needs more resources than an SM has.
    pub const LAUNCH_OUT_OF_RESOURCES: i32 = 701;
    /// A kernel does not end.
    pub const LAUNCH_TIMEOUT: i32 = 702;
    /// An assertion in a kernel failed.
    pub const ASSERT: i32 = 710;
    /// A kernel failed for another reason, or the device has ended.
    pub const LAUNCH_FAILURE: i32 = 719;
    /// The simulator lacks the function.
    pub const NOT_SUPPORTED: i32 = 801;
    /// The clusters of a launch are larger than the GPU allows.
    pub const INVALID_CLUSTER_SIZE: i32 = 912;
}

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// A call of the library to the device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Call {
            $($(#[$doc])* $name = $number,)*
        }

        impl Call {
            /// Returns the call with this number.
            pub fn of(number: u64) -> Option<Self> {
                match number {
                    $($number => Some(Call::$name),)*
                    _ => None,
                }
            }
        }
    };
}

calls! {
    /// Loads a fat binary (bytes). Returns the module's index.
    Module = 1,
    /// Finds a kernel by module and name (bytes). Returns its index, registers, shared, local and constant bytes, max threads per
    /// block and architecture, then offset and size of each parameter.
    Kernel = 2,
    /// Finds a variable by module and name (bytes). Returns its address and size.
    Symbol = 3,
    /// Allocates bytes: size, alignment. Returns the address.
    Allocate = 4,
    /// Frees the memory at an address.
    Free = 5,
    /// Writes rows (bytes): address, pitch, bytes per row, number of rows.
    Write = 6,
    /// Reads rows, with the integers of [`Call::Write`].
    Read = 7,
    /// Fills rows: the integers of [`Call::Write`], and the byte.
    Fill = 8,
    /// Copies rows: address and pitch of the destination, address and pitch of the source, bytes per row, number of rows.
    Copy = 9,
    /// Launches a kernel: index, grid, block, dynamic shared memory, cluster or zeros, and the parameters (bytes). Without a stream, waits
    /// for its end and returns its printed text.
    Launch = 10,
    /// Returns the simulated time in nanoseconds, as the bits of an `f64`.
    Now = 11,
    /// Returns the properties of the device.
    Device = 12,
    /// Returns the free and the total bytes of device memory.
    MemoryInfo = 13,
    /// Creates a texture. Returns its handle.
    Texture = 14,
    /// Returns how many blocks of a kernel an SM holds, how many clusters the GPU holds, and the blocks of a cluster: index, threads per
    /// block, dynamic shared memory, cluster in x, y and z or zeros.
    Occupancy = 15,
    /// Begins a connection: id of the process. Gets no reply.
    Hello = 16,
    /// Reports a call that the library has refused: CUDA's error code, and the reason (bytes). Gets no reply on a late
    /// connection.
    Refused = 17,
    /// Checks that rows are inside buffers, before a copy in pieces, with the integers of [`Call::Write`].
    Check = 18,
    /// Reads rows when the stream comes to it: the integers of [`Call::Write`], and the ticket for [`Call::TakeRead`].
    ReadLater = 19,
    /// Records an event by its number.
    RecordEvent = 20,
    /// Lets the stream wait for an event.
    WaitEvent = 21,
    /// Returns the simulated time of an event in nanoseconds, as the bits of an `f64`.
    EventTime = 22,
    /// Waits for a stream, an event or all work: one of [`sync`], and the number of the stream or event. Returns the number of
    /// reads that have ended, and printed text (bytes).
    Synchronize = 23,
    /// Returns the ticket and the bytes of a read that has ended.
    TakeRead = 24,
    /// Sets the priority of the stream: 0, or a larger number for work that starts before that of other streams.
    Priority = 25,
}

impl Call {
    /// Returns the max number of bytes in a message of this call.
    fn most_bytes(self) -> u64 {
        if self == Call::Module { MODULE_BYTES } else { PIECE_BYTES }
    }
}

/// Properties of a device, in the order of the reply to [`Call::Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Device memory in bytes.
    Memory,
    /// Number of SMs.
    Sms,
    /// Shared memory of an SM in bytes.
    SharedBytes,
    /// Registers of an SM.
    Registers,
    /// Max threads of an SM.
    Threads,
    /// Max blocks of an SM.
    Blocks,
    /// Max blocks of a cluster.
    ClusterBlocks,
    /// Core clock in kHz.
    CoreKhz,
    /// Memory clock in kHz.
    MemoryKhz,
    /// Width of the memory bus in bits.
    BusBits,
    /// Size of the L2 in bytes.
    L2Bytes,
    /// Compute capability: ten times the major number, plus the minor number.
    Architecture,
    /// Number of properties.
    Count,
}

/// A call from the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRequest {
    /// Number of a [`Call`].
    pub call: u64,
    /// Number of the stream to whose work the call belongs; `None`: the call takes effect immediately.
    pub stream: Option<u64>,
    /// Name of the CUDA function.
    pub name: String,
    /// Integer arguments.
    pub words: Vec<u64>,
    /// Data of the call.
    pub bytes: Vec<u8>,
}

/// A reply from the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallReply {
    /// CUDA error code; 0 for success.
    pub code: i32,
    /// `true` if no later call can succeed.
    pub is_last: bool,
    /// Integer results.
    pub words: Vec<u64>,
    /// Data of the reply.
    pub bytes: Vec<u8>,
}

/// Writes a message: two integers of the header, a name, integers and bytes.
fn send(to: &mut impl Write, head: [u64; 2], name: &str, words: &[u64], bytes: &[u8]) -> io::Result<()> {
    let lengths = [head[0], head[1], name.len() as u64, words.len() as u64, bytes.len() as u64];
    let mut start: Vec<u8> = lengths.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect();
    start.extend_from_slice(name.as_bytes());
    to.write_all(&start)?;
    to.write_all(bytes)?;
    to.flush()
}

/// A received message: two integers of the header, a name, integers and bytes.
type Message = ([u64; 2], String, Vec<u64>, Vec<u8>);

/// Reads an integer. Returns `None` if the other side has closed the connection before its first byte.
fn receive_word(from: &mut impl Read) -> io::Result<Option<u64>> {
    let mut bytes = [0; 8];
    let mut count = 0;
    while count < bytes.len() {
        match from.read(&mut bytes[count..]) {
            Ok(0) if count == 0 => return Ok(None),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(more) => count += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Some(u64::from_le_bytes(bytes)))
}

/// Reads `count` bytes. Memory grows with the received bytes, not with the announced length.
fn receive_bytes(from: &mut impl Read, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = from.take(count).read_to_end(&mut bytes)?;
    if (read as u64) < count { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

/// Reads a message of [`send`]. Returns `None` if the other side has closed the connection. `most` returns the max number of
/// bytes for the first integer of the header.
fn receive(from: &mut impl Read, most: impl Fn(u64) -> u64) -> io::Result<Option<Message>> {
    let Some(first) = receive_word(from)? else { return Ok(None) };
    let mut word = || receive_word(from)?.ok_or_else(|| ErrorKind::UnexpectedEof.into());
    let head = [first, word()?];
    let (name, count, length) = (word()?, word()?, word()?);
    for (what, value, limit) in [
        ("name", name, MOST_NAME_BYTES),
        ("list of numbers", count, MOST_WORDS),
        ("message", length, most(first)),
    ] {
        if value > limit {
            let why = format!("a {what} of {value}: must be at most {limit}");
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
    }
    let words = (0..count).map(|_| word()).collect::<io::Result<Vec<_>>>()?;
    let name = receive_bytes(from, name)?;
    let bytes = receive_bytes(from, length)?;
    Ok(Some((head, String::from_utf8_lossy(&name).into_owned(), words, bytes)))
}

/// Sends a request without copying `bytes`.
///
/// # Errors
/// The other side has closed the connection. [`ErrorKind::InvalidInput`] if `bytes` exceeds the limit of the call; nothing is
/// sent then.
pub fn send_request(
    to: &mut impl Write,
    call: Call,
    stream: Option<u64>,
    name: &str,
    words: &[u64],
    bytes: &[u8],
) -> io::Result<()> {
    let limit = call.most_bytes();
    if bytes.len() as u64 > limit {
        let why = format!("{} bytes: must be at most {limit}", bytes.len());
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    send(to, [call as u64, stream.map_or(0, |stream| stream + 1)], name, words, bytes)
}

impl CallRequest {
    /// Receives a request. Returns `None` if the other side has closed the connection between two requests.
    ///
    /// # Errors
    /// The other side has closed the connection within a message, or sent invalid data.
    pub fn receive(from: &mut impl Read) -> io::Result<Option<Self>> {
        let most = |call| Call::of(call).map_or(0, Call::most_bytes);
        let message = receive(from, most)?;
        Ok(message.map(|([call, stream], name, words, bytes)| {
            let stream = stream.checked_sub(1);
            CallRequest { call, stream, name, words, bytes }
        }))
    }
}

impl CallReply {
    /// Sends the reply.
    ///
    /// # Errors
    /// The other side has closed the connection.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        send(to, [self.code as u64, u64::from(self.is_last)], "", &self.words, &self.bytes)
    }

    /// Receives a reply.
    ///
    /// # Errors
    /// The errors of [`CallRequest::receive`], and a closed connection.
    pub fn receive(from: &mut impl Read) -> io::Result<Self> {
        let message = receive(from, |_| PIECE_BYTES)?;
        let ([code, is_last], _, words, bytes) = message.ok_or(ErrorKind::UnexpectedEof)?;
        Ok(CallReply { code: code as i32, is_last: is_last != 0, words, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the header of a request with these lengths of name, integers and bytes, without the data.
    fn head(call: u64, lengths: [u64; 3]) -> Vec<u8> {
        [call, 0].iter().chain(&lengths).flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_was_sent_is_received_and_the_end_between_two_messages_is_one() {
        let mut sent = Vec::new();
        send_request(&mut sent, Call::Write, Some(4), "cudaMemcpy", &[1, 2], &[3; 5])
            .expect("a vector takes it");
        let mut from = sent.as_slice();
        let request = CallRequest::receive(&mut from).expect("it is whole").expect("it is there");
        let expected = CallRequest {
            call: 6,
            stream: Some(4),
            name: "cudaMemcpy".into(),
            words: vec![1, 2],
            bytes: vec![3; 5],
        };
        assert_eq!(request, expected);
        assert_eq!(CallRequest::receive(&mut from).expect("an end"), None);
        for length in 1..sent.len() {
            assert!(CallRequest::receive(&mut &sent[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn no_length_is_believed_that_exceeds_its_limit() {
        let refused = |call, lengths| {
            CallRequest::receive(&mut head(call, lengths).as_slice()).map_err(|e| e.to_string())
        };
        let limits = [
            (Call::Write as u64, [257, 0, 0], "a name of 257: must be at most 256"),
            (Call::Write as u64, [0, 65_537, 0], "a list of numbers of 65537: must be at most 65536"),
            (Call::Write as u64, [0, 0, (16 << 20) + 1], "a message of 16777217: must be at most 16777216"),
            (Call::Write as u64, [0, 0, 1 << 39], "a message of 549755813888: must be at most 16777216"),
            (
                Call::Module as u64,
                [0, 0, (1 << 30) + 1],
                "a message of 1073741825: must be at most 1073741824",
            ),
            (99, [0, 0, 1], "a message of 1: must be at most 0"),
        ];
        for (call, lengths, why) in limits {
            assert_eq!(refused(call, lengths), Err(why.into()));
        }
        // A message at its limit is refused for its missing data, not for its length.
        for lengths in [[256, 0, 0], [0, 65_536, 0], [0, 0, 16 << 20]] {
            let why = refused(Call::Write as u64, lengths).expect_err("it is cut");
            assert!(!why.contains("at most"), "{lengths:?}: {why}");
        }
    }

    #[test]
    fn too_long_a_request_is_not_begun() {
        let mut sent = Vec::new();
        let long = vec![0; PIECE_BYTES as usize + 1];
        let error =
            send_request(&mut sent, Call::Write, None, "cudaMemcpy", &[], &long).expect_err("it is too long");
        assert_eq!((error.kind(), sent.len()), (ErrorKind::InvalidInput, 0));
    }
}
