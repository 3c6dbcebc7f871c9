//! Messages between the runtime library in a CUDA program and the device that serves it: the library asks, the device replies.
//!
//! A request is a call with the name of the CUDA function that makes it, numbers and bytes; a reply is a CUDA error code with
//! numbers and bytes. Both sides are of the same build, so that there is one version of it.
use std::io::{self, Read, Write};

/// The environment variable that leads the library to the device: the path of a socket.
pub const SOCKET: &str = "SELVEDGE_CUDA_SOCKET";

/// Most bytes of a message.
const MOST_BYTES: u64 = 1 << 40;

/// The errors of CUDA that the simulator gives.
pub mod error {
    /// An argument is wrong.
    pub const INVALID_VALUE: i32 = 1;
    /// There is not enough memory.
    pub const MEMORY_ALLOCATION: i32 = 2;
    /// The library has no device.
    pub const INITIALIZATION: i32 = 3;
    /// A launch has dimensions that no device has.
    pub const INVALID_CONFIGURATION: i32 = 9;
    /// A module has no such variable.
    pub const INVALID_SYMBOL: i32 = 13;
    /// A module has no such kernel.
    pub const INVALID_DEVICE_FUNCTION: i32 = 98;
    /// A fat binary without PTX.
    pub const NO_KERNEL_IMAGE: i32 = 209;
    /// PTX that cannot be executed.
    pub const INVALID_PTX: i32 = 218;
    /// A kernel that left its memory.
    pub const ILLEGAL_ADDRESS: i32 = 700;
    /// A block that needs more than an SM has.
    pub const LAUNCH_OUT_OF_RESOURCES: i32 = 701;
    /// A kernel that does not end.
    pub const LAUNCH_TIMEOUT: i32 = 702;
    /// An assertion in a kernel.
    pub const ASSERT: i32 = 710;
    /// A kernel that failed otherwise, or a device that has gone.
    pub const LAUNCH_FAILURE: i32 = 719;
    /// A function that the simulator lacks.
    pub const NOT_SUPPORTED: i32 = 801;
}

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// What the library asks for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Call {
            $($(#[$doc])* $name = $number,)*
        }

        impl Call {
            /// Returns the call of that number.
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
    /// Load a fat binary (bytes): gives the module's number.
    Module = 1,
    /// Find a kernel by module and name (bytes): gives its number, registers, shared, local and constant bytes, most threads of a
    /// block and architecture, and the sizes of its parameters.
    Kernel = 2,
    /// Find a variable by module and name (bytes): gives address and size.
    Symbol = 3,
    /// Allocate so many bytes at this alignment: gives the address.
    Allocate = 4,
    /// Free the memory at an address.
    Free = 5,
    /// Write rows (bytes): address, pitch, bytes of a row, rows.
    Write = 6,
    /// Read rows, with the same numbers.
    Read = 7,
    /// Fill rows: the same numbers, and the byte.
    Fill = 8,
    /// Copy rows: address, pitch of the destination and of the source, bytes of a row, rows.
    Copy = 9,
    /// Launch a kernel: its number, grid, block, dynamic shared memory, and the parameters (bytes): gives what it printed.
    Launch = 10,
    /// Ask for the simulated time: gives nanoseconds, as the bits of a number.
    Now = 11,
    /// Ask for what the configuration states of the device.
    Device = 12,
    /// Ask for free and total bytes.
    MemoryInfo = 13,
    /// Make a texture: gives its handle.
    Texture = 14,
    /// Ask how many blocks of a kernel an SM holds: number, threads of a block, dynamic shared memory.
    Occupancy = 15,
}

/// The properties of a device, in the order of the reply to [`Call::Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// Bytes of device memory.
    Memory,
    /// SMs.
    Sms,
    /// Bytes of shared memory of an SM.
    SharedBytes,
    /// Registers of an SM.
    Registers,
    /// Threads of an SM.
    Threads,
    /// Blocks of an SM.
    Blocks,
    /// Core clock, kHz.
    CoreKhz,
    /// Memory clock, kHz.
    MemoryKhz,
    /// Bits of the memory bus.
    BusBits,
    /// Bytes of the L2.
    L2Bytes,
    /// Compute capability, ten times its major number and its minor one.
    Architecture,
    /// How many there are.
    Count,
}

/// A call as the library makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The number of a [`Call`].
    pub call: u64,
    /// The CUDA function.
    pub name: String,
    /// The numbers.
    pub words: Vec<u64>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// What the device gives back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// A CUDA error code; 0 when the call was done.
    pub code: i32,
    /// No later call can be done.
    pub is_last: bool,
    /// The numbers.
    pub words: Vec<u64>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Writes a message: the head's two numbers, a name, numbers and bytes.
fn send(to: &mut impl Write, head: [u64; 2], name: &str, words: &[u64], bytes: &[u8]) -> io::Result<()> {
    let lengths = [head[0], head[1], name.len() as u64, words.len() as u64, bytes.len() as u64];
    let mut start: Vec<u8> = lengths.iter().chain(words).flat_map(|word| word.to_le_bytes()).collect();
    start.extend_from_slice(name.as_bytes());
    to.write_all(&start)?;
    to.write_all(bytes)?;
    to.flush()
}

/// A message: the head's two numbers, a name, numbers and bytes.
type Message = ([u64; 2], String, Vec<u64>, Vec<u8>);

/// Reads what [`send`] has written.
fn receive(from: &mut impl Read) -> io::Result<Message> {
    let mut word = || {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        Ok::<_, io::Error>(u64::from_le_bytes(bytes))
    };
    let head = [word()?, word()?];
    let (name, count, length) = (word()?, word()?, word()?);
    if name > 256 || count > 1 << 16 || length > MOST_BYTES {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no message of the CUDA library"));
    }
    let words = (0..count).map(|_| word()).collect::<io::Result<Vec<_>>>()?;
    let mut text = vec![0; name as usize];
    from.read_exact(&mut text)?;
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    Ok((head, String::from_utf8_lossy(&text).into_owned(), words, bytes))
}

/// Sends a request; `bytes` are not copied.
///
/// # Errors
/// The other side has gone.
pub fn send_request(
    to: &mut impl Write,
    call: Call,
    name: &str,
    words: &[u64],
    bytes: &[u8],
) -> io::Result<()> {
    send(to, [call as u64, 0], name, words, bytes)
}

impl Request {
    /// Receives a request.
    ///
    /// # Errors
    /// The other side has gone, or sends something else.
    pub fn receive(from: &mut impl Read) -> io::Result<Self> {
        let ([call, _], name, words, bytes) = receive(from)?;
        Ok(Request { call, name, words, bytes })
    }
}

impl Reply {
    /// Sends the reply.
    ///
    /// # Errors
    /// The other side has gone.
    pub fn send(&self, to: &mut impl Write) -> io::Result<()> {
        send(to, [self.code as u64, u64::from(self.is_last)], "", &self.words, &self.bytes)
    }

    /// Receives a reply.
    ///
    /// # Errors
    /// As [`Request::receive`].
    pub fn receive(from: &mut impl Read) -> io::Result<Self> {
        let ([code, is_last], _, words, bytes) = receive(from)?;
        Ok(Reply { code: code as i32, is_last: is_last != 0, words, bytes })
    }
}
