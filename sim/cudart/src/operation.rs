//! What a program does to a device, and the file that such a record is kept in.
use lz4_flex::frame::{FrameDecoder, FrameEncoder, FrameInfo};
use selvedge_ptx::texture::Texture;
use selvedge_state::{Reader, State, StateError, Writer};
use std::io::{self, Read, Write};
use std::path::Path;

/// How the name of a recorded program ends.
pub const EXTENSION: &str = ".sprog";

/// First bytes of a file.
const MAGIC: &[u8] = b"selvedge program 1\n";
/// Last bytes of a file: the unpacker takes one that was cut in front of its checksum.
const END: &[u8] = b"end\n";

/// Rows of memory, a pitch apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct Rows {
    /// First device address.
    pub address: u64,
    /// Bytes from one row to the next.
    pub pitch: u64,
    /// Bytes of a row.
    pub width: u64,
    /// How many rows.
    pub height: u64,
}

/// Something that a program does to a device.
#[derive(Clone, Debug, PartialEq, State)]
pub enum Operation {
    /// It loads a module.
    Module {
        /// Its PTX.
        text: String,
    },
    /// It gets memory.
    Allocate {
        /// Device address.
        address: u64,
        /// Size.
        bytes: u64,
    },
    /// It frees memory.
    Free {
        /// Device address.
        address: u64,
    },
    /// It writes memory.
    Write {
        /// Where.
        rows: Rows,
        /// The rows' bytes, one after the other.
        bytes: Vec<u8>,
    },
    /// It fills memory with a byte.
    Fill {
        /// Where.
        rows: Rows,
        /// The byte.
        byte: u8,
    },
    /// It copies memory.
    Copy {
        /// Where to.
        to: Rows,
        /// First device address of the source.
        from: u64,
        /// Bytes from one row of the source to the next.
        pitch: u64,
    },
    /// It makes a texture.
    Texture {
        /// What it is.
        texture: Texture,
    },
    /// It launches a kernel.
    Launch(LaunchOperation),
}

/// The launch of a kernel.
#[derive(Clone, Debug, PartialEq, State)]
pub struct LaunchOperation {
    /// Number of the module, in the order in which they were loaded.
    pub module: usize,
    /// Name of the kernel.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub dynamic_shared: u32,
    /// The parameters.
    pub params: Vec<u8>,
}

/// Everything that a program has done to a device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The program's name.
    pub name: String,
    /// Its arguments, in one line.
    pub arguments: String,
    /// What it did, in order.
    pub operations: Vec<Operation>,
}

/// A file that is no record of a program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// It cannot be read.
    #[error("{file}: cannot read it: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        error: io::Error,
    },
    /// Another kind of file.
    #[error("{file}: must be a recorded program, as `selvedge cuda --record` writes it")]
    NotOne {
        /// The file.
        file: String,
    },
    /// One that was cut or changed.
    #[error("{file}: the recorded program is damaged: {why}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
}

impl Record {
    /// Returns the bytes of a file.
    ///
    /// # Errors
    /// They cannot be packed.
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

    /// Reads a file of at most `most` bytes.
    ///
    /// # Errors
    /// It cannot be read, or is not such a file.
    pub fn read(path: &Path, most: u64) -> Result<Self, RecordError> {
        let file = path.display().to_string();
        match selvedge_hw::file::read_known(path, MAGIC, most) {
            Ok(bytes) => Self::of_bytes(&file, &bytes, most),
            Err(error) => Err(RecordError::Unreadable { file, error }),
        }
    }

    fn of_bytes(file: &str, bytes: &[u8], most: u64) -> Result<Self, RecordError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(RecordError::NotOne { file: file.into() });
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
        Ok(Record { name: State::read(from)?, arguments: State::read(from)?, operations: State::read(from)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let rows = Rows { address: 256, pitch: 8, width: 4, height: 2 };
        let launch = LaunchOperation {
            module: 0,
            kernel: "k".into(),
            grid: [1, 2, 3],
            block: [4, 5, 6],
            dynamic_shared: 7,
            params: vec![8; 9],
        };
        let operations = vec![
            Operation::Module { text: ".version 7.8\n".into() },
            Operation::Allocate { address: 256, bytes: 64 },
            Operation::Write { rows, bytes: vec![1; 8] },
            Operation::Copy { to: rows, from: 512, pitch: 4 },
            Operation::Launch(launch),
            Operation::Free { address: 256 },
        ];
        Record { name: "program".into(), arguments: "1 2".into(), operations }
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = record().to_bytes().expect("packed");
        assert_eq!(Record::of_bytes("a.sprog", &bytes, 1 << 20).expect("it is whole"), record());
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_refused() {
        let whole = record().to_bytes().expect("packed");
        for length in 0..whole.len() {
            assert!(Record::of_bytes("a.sprog", &whole[..length], 1 << 20).is_err(), "{length} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            if let Ok(read) = Record::of_bytes("a.sprog", &changed, 1 << 20) {
                assert_eq!(read, record(), "byte {at} changes what is read");
            }
        }
    }

    #[test]
    fn one_that_unpacks_to_too_much_is_refused() {
        let refused = Record::of_bytes("a.sprog", &record().to_bytes().expect("packed"), 16);
        let line = "a.sprog: the recorded program is damaged: it unpacks to more than 16 bytes";
        assert_eq!(refused.expect_err("it is larger").to_string(), line);
    }
}
