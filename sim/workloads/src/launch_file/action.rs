//! Host operations on buffers between launches.
use super::buffer::{Buffer, BufferHome, find};
use super::element::FileNumber;
use super::error::LaunchFileError;
use super::fill;
use super::format::{RawHost, Text};
use toml::Spanned;

/// A `[[host]]` table, checked.
#[derive(Clone, Debug)]
pub(super) struct Action {
    /// Byte offset in the launch file.
    pub at: usize,
    pub what: What,
}

/// Operation of the host.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// Copies elements. Without a count it copies all that follow.
    Copy { from: BufferRange, to: BufferRange },
    /// Writes one value to elements.
    Set { part: BufferRange, bits: u64 },
    /// Restores the initial contents of a buffer.
    Reset(usize),
}

/// A range of a buffer's elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferRange {
    pub buffer: usize,
    pub offset: u64,
    /// `None`: all that follow.
    pub count: Option<u64>,
}

impl BufferRange {
    /// Returns the number of elements, in a buffer that has `all`; `None` if the range exceeds the buffer.
    pub(super) fn count(&self, all: u64) -> Option<u64> {
        let left = all.checked_sub(self.offset).filter(|left| *left > 0)?;
        let count = self.count.unwrap_or(left);
        (1..=left).contains(&count).then_some(count)
    }
}

impl Action {
    /// Checks a table, except for sizes that only the PTX states.
    pub(super) fn check(
        text: &Text,
        table: &Spanned<RawHost>,
        buffers: &[Buffer],
    ) -> Result<Self, LaunchFileError> {
        let (at, raw) = (table.span().start, table.get_ref());
        let what = match (&raw.copy, &raw.set, &raw.reset) {
            (Some(copy), None, None) => {
                let at = copy.span().start;
                let copy = copy.get_ref();
                let from = find(text, text.need(&copy.from, "from", at)?, buffers)?;
                let to = find(text, text.need(&copy.to, "to", at)?, buffers)?;
                let bytes = |buffer: usize| buffers[buffer].element.bytes();
                if bytes(from) != bytes(to) {
                    let message = format!(
                        "copy: elements of `{}` have {} bytes, those of `{}` {}: must be equal",
                        buffers[from].name,
                        bytes(from),
                        buffers[to].name,
                        bytes(to)
                    );
                    return Err(text.bad(at, message));
                }
                let part = |buffer, offset: Option<u64>| BufferRange {
                    buffer,
                    offset: offset.unwrap_or(0),
                    count: copy.count,
                };
                What::Copy { from: part(from, copy.from_offset), to: part(to, copy.to_offset) }
            }
            (None, Some(set), None) => {
                let at = set.span().start;
                let set = set.get_ref();
                let buffer = find(text, text.need(&set.buffer, "buffer", at)?, buffers)?;
                let value: &Spanned<FileNumber> = text.need(&set.value, "value", at)?;
                let bits = fill::bits(text, value, "value", buffers[buffer].element)?;
                let part = BufferRange { buffer, offset: set.offset.unwrap_or(0), count: set.count };
                What::Set { part, bits }
            }
            (None, None, Some(name)) => What::Reset(find(text, name, buffers)?),
            _ => return Err(text.bad(at, "a [[host]] table has one of `copy`, `set` and `reset`")),
        };
        Ok(Action { at, what })
    }

    /// Checks the action against the sizes of the buffers.
    pub(super) fn fits(
        &self,
        text: &Text,
        buffers: &[Buffer],
        bound: &[(BufferHome, u64)],
    ) -> Result<(), LaunchFileError> {
        let writable = |buffer: usize| match bound[buffer].0 {
            BufferHome::Constant => {
                let message = format!("symbol `{}` is constant: it cannot be written", buffers[buffer].name);
                Err(text.bad(self.at, message))
            }
            _ => Ok(()),
        };
        let inside = |part: &BufferRange| {
            let all = bound[part.buffer].1;
            part.count(all).ok_or_else(|| {
                let name = &buffers[part.buffer].name;
                text.bad(self.at, format!("`{name}` has {all} elements: must be a part of them"))
            })
        };
        match &self.what {
            What::Copy { from, to } => {
                writable(from.buffer)?;
                writable(to.buffer)?;
                let [have, room] = [inside(from)?, inside(to)?];
                if have > room {
                    let (from, to) = (&buffers[from.buffer].name, &buffers[to.buffer].name);
                    let message = format!("copy: {have} elements of `{from}` for {room} of `{to}`");
                    return Err(text.bad(self.at, message));
                }
                Ok(())
            }
            What::Set { part, .. } => {
                writable(part.buffer)?;
                inside(part).map(drop)
            }
            What::Reset(buffer) => writable(*buffer),
        }
    }
}
