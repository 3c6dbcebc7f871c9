//! Device memory that launches share by name: buffers, and variables that the PTX declares.
use super::element::Element;
use super::error::LaunchFileError;
use super::expectation::Expectation;
use super::fill::{BufferFill, KEYS};
use super::format::{Item, NumberText, Save, Text};
use super::room::{Most, Room};
use super::structure::{self, Patch};
use selvedge_ptx::ptx::Module;
use std::path::PathBuf;
use toml::Spanned;

/// A named piece of device memory, checked.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub name: String,
    /// Byte offset in the launch file.
    pub at: usize,
    pub element: Element,
    /// `None` for a symbol whose size the PTX declares.
    pub count: Option<u64>,
    /// `None` if unstated: a buffer then holds zeros, and a symbol its initial values from the PTX.
    pub fill: Option<BufferFill>,
    /// `true` for a variable of the PTX.
    pub symbol: bool,
    /// The buffer that contains this one, and the offset in bytes.
    pub within: Option<(usize, u64)>,
    /// Addresses among the initial values.
    pub patches: Vec<Patch>,
    pub expect: Option<Expectation>,
    pub save: Option<BufferFile>,
}

/// File that is written at the end of the run.
#[derive(Clone, Debug)]
pub(super) struct BufferFile {
    pub path: PathBuf,
    pub format: NumberText,
}

/// Location of a buffer at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferHome {
    /// Allocated memory.
    Heap,
    /// A range of another buffer, which begins at an offset in bytes.
    Part(usize, u64),
    /// A `.global` variable.
    Global(u64),
    /// A `.const` variable, which has no device address.
    Constant,
}

impl Buffer {
    /// Checks a `[[buffer]]` or `[[symbol]]`.
    pub(super) fn check(
        text: &Text,
        item: &Spanned<Item>,
        symbol: bool,
        room: &mut Room,
        before: &[Buffer],
    ) -> Result<Self, LaunchFileError> {
        let (at, item) = (item.span().start, item.get_ref());
        let name = text.need(&item.name, "name", at)?.get_ref().clone();
        let Some(whole) = item.of.as_ref().filter(|_| !symbol) else {
            return Self::named(text, item, at, name, symbol, room);
        };
        let index = find(text, whole, before)?;
        // The other buffer already accounts for the memory.
        let mut part = Self::named(text, item, at, name, false, &mut Room::new(u64::MAX))?;
        let size = before[index].element.bytes() as u64;
        let offset = item.offset.as_ref().map_or(0, |offset| *offset.get_ref()).saturating_mul(size);
        let (needs, has) = (part.bytes().unwrap_or(0), before[index].bytes());
        if has.is_some_and(|has| offset.checked_add(needs).is_none_or(|end| end > has)) {
            let (name, whole) = (&part.name, &before[index].name);
            let end = offset.saturating_add(needs);
            let message =
                format!("`{name}` ends after {end} bytes of `{whole}`, which has {}", has.unwrap_or(0));
            return Err(text.bad(at, message));
        }
        part.within = Some((index, offset));
        Ok(part)
    }

    /// Returns the size in bytes, if the launch file states it.
    pub(super) fn bytes(&self) -> Option<u64> {
        Some(self.count?.saturating_mul(self.element.bytes() as u64))
    }

    /// Checks a buffer that only one argument uses.
    pub(super) fn anonymous(
        text: &Text,
        item: &Spanned<Item>,
        name: String,
        room: &mut Room,
    ) -> Result<Self, LaunchFileError> {
        Self::named(text, item.get_ref(), item.span().start, name, false, room)
    }

    fn named(
        text: &Text,
        item: &Item,
        at: usize,
        name: String,
        symbol: bool,
        room: &mut Room,
    ) -> Result<Self, LaunchFileError> {
        if let Some(members) = item.members.as_ref().filter(|_| !symbol) {
            return Self::structures(text, item, at, name, members, room);
        }
        let element = *text.need(&item.element, "type", at)?.get_ref();
        let mut known = [&["name", "type", "count", "expect", "save", "addresses"][..], &KEYS].concat();
        if item.of.is_some() && !symbol {
            known.extend(["of", "offset"]);
        }
        text.only(item.given(), &known, if symbol { "a symbol" } else { "a buffer" })?;
        let stated = item.count.as_ref().map(|count| *count.get_ref());
        let others = ["name", "type", "count", "expect", "save", "addresses", "of", "offset"];
        let fill = BufferFill::check(text, item, at, element, &others, room.most(stated, element))?;
        let brought = fill.as_ref().and_then(|fill| fill.count(element));
        let count = match (&item.count, brought) {
            (Some(count), Some(has)) if *count.get_ref() != has => {
                let message = format!("count = {}: its values are {has}", count.get_ref());
                return Err(text.bad(count.span().start, message));
            }
            (Some(count), _) => Some(*count.get_ref()),
            (None, brought) => brought,
        };
        if count.is_none() && !symbol {
            return Err(text.bad(at, format!("missing key `count` of buffer `{name}`")));
        }
        if let Some(count) = count.filter(|_| !symbol) {
            let place = item.count.as_ref().map_or(at, |count| count.span().start);
            room.take(text, place, &name, count, element)?;
        }
        let most = count.map_or_else(|| room.most(None, element), Most::of);
        let expect = item.expect.as_ref().map(|e| Expectation::check(text, e, element, most)).transpose()?;
        if let (Some(expect), Some(count)) = (&expect, count) {
            expect.check_count(text, element, count)?;
        }
        let save = item.save.as_ref().map(|save| BufferFile::check(text, save)).transpose()?;
        Ok(Buffer { name, at, element, count, fill, symbol, within: None, patches: Vec::new(), expect, save })
    }

    /// Checks a buffer of structures, and stores it as bytes.
    fn structures(
        text: &Text,
        item: &Item,
        at: usize,
        name: String,
        members: &Spanned<Vec<Element>>,
        room: &mut Room,
    ) -> Result<Self, LaunchFileError> {
        let known = ["name", "members", "count", "values", "addresses", "save", "expect"];
        text.only(item.given(), &known, "a buffer of structures")?;
        let size = structure::layout(members.get_ref()).1 as u64;
        let element = Element::B8;
        let given =
            item.values.as_ref().map(|values| structure::values(text, members, values)).transpose()?;
        let stated = item.count.as_ref().map(|count| *count.get_ref());
        let bytes = match (stated, &given) {
            (Some(count), Some(given)) if count.saturating_mul(size) != given.len() as u64 => {
                let has = given.len() as u64 / size.max(1);
                return Err(text.bad(at, format!("count = {count}: its values are {has} structures")));
            }
            (_, Some(given)) => given.len() as u64,
            (Some(count), None) => count.saturating_mul(size),
            (None, None) => return Err(text.bad(at, format!("missing key `count` of buffer `{name}`"))),
        };
        room.take(text, at, &name, bytes, element)?;
        let most = Most::of(bytes);
        let expect = item.expect.as_ref().map(|e| Expectation::check(text, e, element, most)).transpose()?;
        if let Some(expect) = &expect {
            expect.check_count(text, element, bytes)?;
        }
        let save = item.save.as_ref().map(|save| BufferFile::check(text, save)).transpose()?;
        let fill = given.map(|given| BufferFill::Given(given.into()));
        let (count, patches) = (Some(bytes), Vec::new());
        Ok(Buffer { name, at, element, count, fill, symbol: false, within: None, patches, expect, save })
    }

    /// Finds the symbol in `module`, sets a constant's values there, and determines the number of elements. `before` gives
    /// the places and sizes of the preceding buffers.
    pub(super) fn bind(
        &self,
        text: &Text,
        module: &mut Module,
        before: &[(BufferHome, u64)],
    ) -> Result<(BufferHome, u64), LaunchFileError> {
        let bad = |message: String| text.bad(self.at, message);
        if let Some((whole, offset)) = self.within {
            if before[whole].0 == BufferHome::Constant {
                return Err(bad("a constant has no part that is a buffer".to_owned()));
            }
            return Ok((BufferHome::Part(whole, offset), self.count.unwrap_or(0)));
        }
        if !self.symbol {
            return Ok((BufferHome::Heap, self.count.unwrap_or(0)));
        }
        let (place, bytes) = match (module.global(&self.name), module.constant(&self.name)) {
            (Some((address, bytes)), _) => (BufferHome::Global(address), bytes),
            (None, Some((_, bytes))) => (BufferHome::Constant, bytes),
            (None, None) => {
                let names = module.variables().collect::<Vec<_>>().join(", ");
                let there = if names.is_empty() { "none".into() } else { names };
                return Err(bad(format!("no variable `{}` in the PTX: there are {there}", self.name)));
            }
        };
        let size = self.element.bytes() as u64;
        let count = self.count.unwrap_or(bytes / size);
        if count == 0 || count.saturating_mul(size) > bytes {
            let (name, has) = (&self.name, bytes / size);
            return Err(bad(format!("symbol `{name}` has {bytes} bytes: must be 1 to {has} elements")));
        }
        if let Some(expect) = &self.expect {
            expect.check_count(text, self.element, count)?;
        }
        if place == BufferHome::Constant {
            if self.expect.is_some() || self.save.is_some() {
                let message =
                    format!("symbol `{}` is constant: it cannot have `expect` or `save`", self.name);
                return Err(bad(message));
            }
            if let Some(fill) = &self.fill {
                let mut values = vec![0; (count * size) as usize];
                fill.write(self.element, &mut values);
                module.set_constant(&self.name, &values).map_err(|error| bad(error.to_string()))?;
            }
        }
        Ok((place, count))
    }
}

impl BufferFile {
    fn check(text: &Text, save: &Spanned<Save>) -> Result<Self, LaunchFileError> {
        let (at, save) = (save.span().start, save.get_ref());
        let path = text.path(text.need(&save.file, "file", at)?.get_ref());
        Ok(BufferFile { path, format: save.format })
    }
}

/// Returns the index of the buffer called `name`.
pub(super) fn find(
    text: &Text,
    name: &Spanned<String>,
    buffers: &[Buffer],
) -> Result<usize, LaunchFileError> {
    let wanted = name.get_ref();
    buffers.iter().position(|buffer| buffer.name == *wanted).ok_or_else(|| {
        let names = list(buffers.iter().map(|buffer| buffer.name.as_str()));
        text.bad(name.span().start, format!("no buffer `{wanted}`: there are {names}"))
    })
}

pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { "none".into() } else { names }
}
