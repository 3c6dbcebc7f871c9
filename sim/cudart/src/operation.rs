//! Operations of a program on a device, and the file format of their record.
use crate::refusals::Refusals;
use lz4_flex::frame::{FrameDecoder, FrameEncoder, FrameInfo};
use selvedge_ptx::requests::RequestedLaunch;
use selvedge_ptx::texture::Texture;
use selvedge_state::{Reader, State, StateError, Writer};
use std::io::{self, Read, Write};
use std::path::Path;

/// File extension of a recorded program.
pub const EXTENSION: &str = ".sprog";

/// First bytes of a record.
const MAGIC: &[u8] = b"selvedge program 2\n";
/// First bytes of a record of any version.
const ANY_VERSION: &[u8] = b"selvedge program ";
/// Last bytes of a record. The LZ4 decoder does not detect a file that is truncated before its checksum.
const END: &[u8] = b"end\n";

/// Rows of bytes in device memory, a pitch apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct PitchedRows {
    /// Device address of the first row.
    pub address: u64,
    /// Distance between the starts of two rows, in bytes.
    pub pitch: u64,
    /// Length of a row in bytes.
    pub width: u64,
    /// Number of rows.
    pub height: u64,
}

/// Number of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State)]
pub struct StreamId(pub u64);

impl StreamId {
    /// The default stream.
    pub const DEFAULT: StreamId = StreamId(0);

    /// Returns whether the stream waits for the default stream, and the default stream for it. Numbers of other streams are odd.
    #[must_use]
    pub fn is_blocking(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

/// Work for whose end a program waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum SyncTarget {
    /// All work of a stream.
    Stream(StreamId),
    /// The last record of an event.
    Event(u64),
    /// All work.
    All,
}

/// An operation of a program on a device.
#[derive(Clone, Debug, PartialEq, State)]
pub enum DeviceOperation {
    /// Loads a module.
    Module {
        /// PTX of the module.
        text: String,
    },
    /// Allocates memory.
    Allocate {
        /// Device address of the buffer.
        address: u64,
        /// Size in bytes.
        bytes: u64,
    },
    /// Frees memory.
    Free {
        /// Device address of the buffer.
        address: u64,
    },
    /// Writes memory.
    Write {
        /// Destination rows.
        rows: PitchedRows,
        /// Bytes of all rows, without gaps.
        bytes: Vec<u8>,
    },
    /// Fills memory with a byte.
    Fill {
        /// Destination rows.
        rows: PitchedRows,
        /// Value of each byte.
        byte: u8,
    },
    /// Copies memory.
    Copy {
        /// Destination rows.
        to: PitchedRows,
        /// Device address of the first source row.
        from: u64,
        /// Distance between the starts of two source rows, in bytes.
        pitch: u64,
    },
    /// Creates a texture.
    Texture {
        /// Description of the texture.
        texture: Texture,
    },
    /// Launches a kernel on the default stream, and waits for its end.
    Launch(LaunchOperation),
    /// Records work that was refused to the program, and is therefore missing.
    Refused(Refusals),
    /// Adds a change of memory or a launch to a stream.
    Queue {
        /// Stream of the work.
        stream: StreamId,
        /// The work.
        work: QueuedOperation,
    },
    /// Adds the record of an event to a stream.
    Record {
        /// Stream of the record.
        stream: StreamId,
        /// Number of the event.
        event: u64,
    },
    /// Lets a stream wait for the last record of an event.
    Wait {
        /// Stream that waits.
        stream: StreamId,
        /// Number of the event.
        event: u64,
    },
    /// Lets the program wait.
    Synchronize(SyncTarget),
    /// Sets the priority of a stream.
    Priority {
        /// The stream.
        stream: StreamId,
        /// Priority; launches of streams with larger numbers start before others.
        priority: u8,
    },
}

impl DeviceOperation {
    /// Returns whether the operation launches a kernel.
    #[must_use]
    pub fn is_launch(&self) -> bool {
        match self {
            DeviceOperation::Launch(_) => true,
            DeviceOperation::Queue { work, .. } => work.is_launch(),
            _ => false,
        }
    }
}

/// A change of memory or a launch that a stream begins.
#[derive(Clone, Debug, PartialEq, State)]
pub enum QueuedOperation {
    /// Writes memory.
    Write {
        /// Destination rows.
        rows: PitchedRows,
        /// Bytes of all rows, without gaps.
        bytes: Vec<u8>,
    },
    /// Fills memory with a byte.
    Fill {
        /// Destination rows.
        rows: PitchedRows,
        /// Value of each byte.
        byte: u8,
    },
    /// Copies memory.
    Copy {
        /// Destination rows.
        to: PitchedRows,
        /// Device address of the first source row.
        from: u64,
        /// Distance between the starts of two source rows, in bytes.
        pitch: u64,
    },
    /// Launches a kernel.
    Launch(LaunchOperation),
}

impl QueuedOperation {
    /// Returns whether the operation launches a kernel.
    #[must_use]
    pub fn is_launch(&self) -> bool {
        self.module().is_some()
    }

    /// Returns the module of the kernel that the operation launches.
    #[must_use]
    pub fn module(&self) -> Option<usize> {
        match self {
            QueuedOperation::Launch(launch) => Some(launch.module),
            _ => None,
        }
    }
}

impl From<QueuedOperation> for DeviceOperation {
    fn from(operation: QueuedOperation) -> Self {
        match operation {
            QueuedOperation::Write { rows, bytes } => DeviceOperation::Write { rows, bytes },
            QueuedOperation::Fill { rows, byte } => DeviceOperation::Fill { rows, byte },
            QueuedOperation::Copy { to, from, pitch } => DeviceOperation::Copy { to, from, pitch },
            QueuedOperation::Launch(launch) => DeviceOperation::Launch(launch),
        }
    }
}

/// The launch of a kernel.
#[derive(Clone, Debug, PartialEq, State)]
pub struct LaunchOperation {
    /// Index of the module, in the order of loading.
    pub module: usize,
    /// The kernel, its size and its parameters.
    pub launch: RequestedLaunch,
}

/// All operations of a program on a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramRecord {
    /// File name of the program.
    pub name: String,
    /// Arguments of the program, joined by spaces.
    pub arguments: String,
    /// Operations in order.
    pub operations: Vec<DeviceOperation>,
}

/// Error of reading a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file cannot be read.
    #[error("{file}: cannot read it: {error}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// Reason from the operating system.
        error: io::Error,
    },
    /// The file is not a record.
    #[error("{file}: must be a recorded program, as `selvedge cuda --record` writes it")]
    NotOne {
        /// Path of the file.
        file: String,
    },
    /// The file is a record of another version.
    #[error("{file}: another version of selvedge has recorded it: record it again")]
    OtherVersion {
        /// Path of the file.
        file: String,
    },
    /// The file is truncated or modified.
    #[error("{file}: the recorded program is damaged: {why}")]
    Damaged {
        /// Path of the file.
        file: String,
        /// Description of the damage.
        why: String,
    },
}

impl ProgramRecord {
    /// Returns the contents of a record file.
    ///
    /// # Errors
    /// The operations cannot be compressed.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut writer = Writer::default();
        self.name.save(&mut writer);
        self.arguments.save(&mut writer);
        self.operations.save(&mut writer);
        let checked = FrameInfo::new().content_checksum(true);
        let mut packed = FrameEncoder::with_frame_info(checked, MAGIC.to_vec());
        packed.write_all(writer.bytes())?;
        let mut bytes = packed.finish().map_err(io::Error::other)?;
        bytes.extend_from_slice(END);
        Ok(bytes)
    }

    /// Reads a record. Both the file and its uncompressed contents may have at most `most` bytes.
    ///
    /// # Errors
    /// The file cannot be read, or is not an intact record.
    pub fn read(path: &Path, most: u64) -> Result<Self, RecordError> {
        let file = path.display().to_string();
        match selvedge_hw::file::read_known(path, MAGIC, most) {
            Ok(bytes) => Self::of_bytes(&file, &bytes, most),
            Err(error) => Err(RecordError::Unreadable { file, error }),
        }
    }

    fn of_bytes(file: &str, bytes: &[u8], most: u64) -> Result<Self, RecordError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            let file = file.into();
            return Err(match bytes.starts_with(ANY_VERSION) {
                true => RecordError::OtherVersion { file },
                false => RecordError::NotOne { file },
            });
        };
        let damaged = |why: String| RecordError::Damaged { file: file.into(), why };
        let rest = rest.strip_suffix(END).ok_or_else(|| damaged("its end is missing".into()))?;
        let mut bytes = Vec::new();
        let unpacked = FrameDecoder::new(rest).take(most.saturating_add(1)).read_to_end(&mut bytes);
        unpacked.map_err(|error| damaged(error.to_string()))?;
        if bytes.len() as u64 > most {
            return Err(damaged(format!("it unpacks to more than {most} bytes")));
        }
        let mut from = Reader::new(&bytes);
        let record = Self::load(&mut from).and_then(|record| from.end().map(|()| record));
        record.map_err(|error| damaged(error.to_string()))
    }

    fn load(from: &mut Reader) -> Result<Self, StateError> {
        Ok(ProgramRecord {
            name: State::read(from)?,
            arguments: State::read(from)?,
            operations: State::read(from)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> ProgramRecord {
        let rows = PitchedRows { address: 256, pitch: 8, width: 4, height: 2 };
        let launch = RequestedLaunch {
            kernel: "k".into(),
            grid: [1, 2, 3],
            block: [4, 5, 6],
            cluster: Some([1, 2, 1]),
            dynamic_shared: 7,
            params: vec![8; 9],
        };
        let launch = LaunchOperation { module: 0, launch };
        let mut refusals = Refusals::default();
        refusals.add("cudaFree", "it is no buffer");
        let operations = vec![
            DeviceOperation::Module { text: ".version 7.8\n".into() },
            DeviceOperation::Allocate { address: 256, bytes: 64 },
            DeviceOperation::Write { rows, bytes: vec![1; 8] },
            DeviceOperation::Copy { to: rows, from: 512, pitch: 4 },
            DeviceOperation::Launch(launch),
            DeviceOperation::Free { address: 256 },
            DeviceOperation::Refused(refusals),
            DeviceOperation::Queue { stream: StreamId(2), work: QueuedOperation::Fill { rows, byte: 3 } },
            DeviceOperation::Record { stream: StreamId(2), event: 1 },
            DeviceOperation::Wait { stream: StreamId::DEFAULT, event: 1 },
            DeviceOperation::Synchronize(SyncTarget::Event(1)),
            DeviceOperation::Priority { stream: StreamId(2), priority: 5 },
        ];
        ProgramRecord { name: "program".into(), arguments: "1 2".into(), operations }
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = record().to_bytes().expect("packed");
        assert_eq!(ProgramRecord::of_bytes("a.sprog", &bytes, 1 << 20).expect("it is whole"), record());
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_refused() {
        let whole = record().to_bytes().expect("packed");
        for length in 0..whole.len() {
            assert!(ProgramRecord::of_bytes("a.sprog", &whole[..length], 1 << 20).is_err(), "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            if let Ok(read) = ProgramRecord::of_bytes("a.sprog", &changed, 1 << 20) {
                assert_eq!(read, record(), "byte {at} changes what is read");
            }
        }
    }

    #[test]
    fn one_that_unpacks_to_too_much_is_refused() {
        let refused = ProgramRecord::of_bytes("a.sprog", &record().to_bytes().expect("packed"), 16);
        let line = "a.sprog: the recorded program is damaged: it unpacks to more than 16 bytes";
        assert_eq!(refused.expect_err("it is larger").to_string(), line);
    }
}
