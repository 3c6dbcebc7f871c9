//! Structures with C layout, and the addresses of buffers among values.
use super::buffer::{self, Buffer};
use super::element::{Element, FileNumber};
use super::error::LaunchFileError;
use super::format::{Item, Text};
use super::values;
use toml::Spanned;

/// Size of an address, in bytes.
const ADDRESS_BYTES: u64 = 8;

/// A position that holds the address of a part of a buffer.
#[derive(Clone, Debug)]
pub(super) struct Patch {
    /// Bytes before the position.
    at: usize,
    buffer: usize,
    /// Offset in the buffer, in bytes.
    offset: u64,
}

impl Patch {
    /// Writes the address to its position.
    pub(super) fn write(&self, addresses: &[u64], bytes: &mut [u8]) {
        let address = addresses[self.buffer] + self.offset;
        bytes[self.at..][..ADDRESS_BYTES as usize].copy_from_slice(&address.to_le_bytes());
    }
}

/// Returns the offsets of a structure's members, and its size, in bytes.
pub(super) fn layout(members: &[Element]) -> (Vec<usize>, usize) {
    let (mut next, mut alignment) = (0usize, 1);
    let places = members
        .iter()
        .map(|member| {
            let place = next.next_multiple_of(member.bytes());
            alignment = alignment.max(member.bytes());
            next = place + member.bytes();
            place
        })
        .collect();
    (places, next.next_multiple_of(alignment))
}

/// Returns the bytes of structures. `numbers` has the values of the members in order.
pub(super) fn values(
    text: &Text,
    members: &Spanned<Vec<Element>>,
    numbers: &Spanned<Vec<FileNumber>>,
) -> Result<Vec<u8>, LaunchFileError> {
    let (kinds, at) = (members.get_ref(), numbers.span().start);
    if kinds.is_empty() {
        return Err(text.bad(members.span().start, "members = []: must be one type or more"));
    }
    let (places, size) = layout(kinds);
    let given = numbers.get_ref();
    if given.is_empty() || !given.len().is_multiple_of(kinds.len()) {
        let (count, has) = (kinds.len(), given.len());
        return Err(text.bad(at, format!("values: must be a multiple of the {count} members, got {has}")));
    }
    let mut out = vec![0; given.len() / kinds.len() * size];
    for (index, number) in given.iter().enumerate() {
        let (structure, member) = (index / kinds.len(), index % kinds.len());
        let written = number.text();
        let bits = kinds[member].parse(&written).map_err(|allowed| {
            text.bad(at, format!("values[{index}] = {}: {allowed}", values::quote(&written)))
        })?;
        let bytes = kinds[member].bytes();
        out[structure * size + places[member]..][..bytes].copy_from_slice(&bits.to_le_bytes()[..bytes]);
    }
    Ok(out)
}

/// Returns the addresses that an item of `bytes` bytes contains.
pub(super) fn patches(
    text: &Text,
    item: &Item,
    bytes: u64,
    buffers: &[Buffer],
) -> Result<Vec<Patch>, LaunchFileError> {
    let Some(raw) = &item.addresses else { return Ok(Vec::new()) };
    let mut out = Vec::with_capacity(raw.get_ref().len());
    for address in raw.get_ref() {
        let at = address.buffer.span().start;
        let buffer = buffer::find(text, &address.buffer, buffers)?;
        if address.at.checked_add(ADDRESS_BYTES).is_none_or(|end| end > bytes) {
            let message = format!("at = {}: an address has 8 bytes, and there are {bytes}", address.at);
            return Err(text.bad(at, message));
        }
        let known = buffers[buffer].count.unwrap_or(u64::MAX);
        if address.offset >= known {
            let message = format!("offset = {}: must be at most {}", address.offset, known - 1);
            return Err(text.bad(at, message));
        }
        let offset = address.offset.saturating_mul(buffers[buffer].element.bytes() as u64);
        out.push(Patch { at: address.at as usize, buffer, offset });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_aligned_to_their_size() {
        let members = [Element::U8, Element::F64, Element::S16, Element::F32];
        assert_eq!(layout(&members), (vec![0, 8, 16, 20], 24));
        assert_eq!(layout(&[Element::U8, Element::U8]), (vec![0, 1], 2));
        assert_eq!(layout(&[]), (vec![], 0));
    }
}
