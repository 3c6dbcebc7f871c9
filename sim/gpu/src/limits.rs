//! Limits on what a run takes of the host, which launch files and traces of others cannot exceed.
use crate::reach::Reach;
use selvedge_ptx::memory::DEFAULT_BYTES;
use std::str::FromStr;

/// Most bytes that any limit allows: a program's addresses end there.
const MOST: u64 = 1 << 40;

/// Units of a size, and how often each has two as a factor.
const UNITS: [(&str, u32); 5] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("", 0)];

/// A number of bytes, as an option states it: `4096`, `512MiB`, `16GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (digits, shift) = UNITS
            .into_iter()
            .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
            .unwrap_or((text, 0));
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok());
        let bytes = whole.flatten().and_then(|count| count.checked_mul(1 << shift));
        bytes
            .filter(|bytes| (1..=MOST).contains(bytes))
            .map(Bytes)
            .ok_or_else(|| "must be bytes, or a number of KiB, MiB, GiB or TiB, from 1 to 1TiB".into())
    }
}

/// Limits of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of device memory, and of a file that holds what goes there.
    pub memory: u64,
    /// Most bytes that a packed trace unpacks to; none: in proportion to its size.
    pub unpacked: Option<u64>,
    /// Where the files lie that a launch file or a list of traces names.
    pub reach: Reach,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: DEFAULT_BYTES, unpacked: None, reach: Reach::default() }
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
            assert!(refused.starts_with("must be "), "{refused}");
        }
    }
}
