//! Limits on the host resources of a run. Launch files and traces of unknown origin cannot exceed them.
use crate::reach::FileReach;
use selvedge_ptx::memory::DEFAULT_BYTES;
use std::str::FromStr;

/// Max bytes of every limit, which is the size of a program's global address range.
const MOST: u64 = 1 << 40;

/// Units of a size, each with its power of two.
const UNITS: [(&str, u32); 5] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("", 0)];

/// A number of bytes, parsed from an option such as `4096`, `512MiB` or `16GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

/// The text is not a number of bytes, or the number is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be bytes, or a number of KiB, MiB, GiB or TiB, from 1 to 1TiB")]
pub struct BadBytes;

impl FromStr for Bytes {
    type Err = BadBytes;

    fn from_str(text: &str) -> Result<Self, BadBytes> {
        let (digits, shift) = UNITS
            .into_iter()
            .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
            .unwrap_or((text, 0));
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok());
        let bytes = whole.flatten().and_then(|count| count.checked_mul(1 << shift));
        bytes.filter(|bytes| (1..=MOST).contains(bytes)).map(Bytes).ok_or(BadBytes)
    }
}

/// Limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Max bytes of device memory, and of a file with the contents of device memory.
    pub memory: u64,
    /// Max bytes to which a packed trace unpacks; `None` for a max in proportion to its packed size.
    pub unpacked: Option<u64>,
    /// Allowed location of the files that a launch file or a list of traces names.
    pub reach: FileReach,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: DEFAULT_BYTES, unpacked: None, reach: FileReach::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units_or_none() {
        for (text, bytes) in [("1", 1), ("4096", 4096), ("3KiB", 3072), ("16GiB", 1 << 34), ("1TiB", 1 << 40)]
        {
            assert_eq!(text.parse(), Ok(Bytes(bytes)));
        }
        for text in ["", "0", "GiB", "-1", "+1", "1.5GiB", "1GB", "2TiB", "99999999999999999999", "1 GiB"] {
            let refused = text.parse::<Bytes>().expect_err(text);
            assert!(refused.to_string().starts_with("must be "), "{refused}");
        }
    }
}
