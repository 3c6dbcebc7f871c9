//! Device memory that launches share by name: buffers, and the variables that the PTX declares.
use super::element::Element;
use super::error::LaunchFileError;
use super::expectation::Expectation;
use super::fill::{Fill, KEYS};
use super::format::{Format, Item, Save, Text};
use super::room::{Most, Room};
use selvedge_ptx::ptx::Module;
use std::path::PathBuf;
use toml::Spanned;

/// A named piece of device memory, checked.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub name: String,
    /// Where the launch file states it, in bytes.
    pub at: usize,
    pub element: Element,
    /// None for a symbol that is as long as the PTX declares it.
    pub count: Option<u64>,
    /// None when nothing is stated: a buffer holds zeros, a symbol what the PTX gives it.
    pub fill: Option<Fill>,
    /// A variable of the PTX.
    pub symbol: bool,
    pub expect: Option<Expectation>,
    pub save: Option<Output>,
}

/// A file to write at the end.
#[derive(Clone, Debug)]
pub(super) struct Output {
    pub path: PathBuf,
    pub format: Format,
}

/// Where a buffer is when the run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// To be allocated.
    Heap,
    /// A `.global` variable.
    Global(u64),
    /// A `.const` variable: no address that the host can name.
    Constant,
}

impl Buffer {
    /// A `[[buffer]]` or `[[symbol]]`.
    pub(super) fn check(
        text: &Text,
        item: &Spanned<Item>,
        symbol: bool,
        room: &mut Room,
    ) -> Result<Self, LaunchFileError> {
        let (at, item) = (item.span().start, item.get_ref());
        let name = text.need(&item.name, "name", at)?.get_ref().clone();
        Self::named(text, item, at, name, symbol, room)
    }

    /// A buffer that only one argument uses.
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
        let element = *text.need(&item.element, "type", at)?.get_ref();
        let known = [&["name", "type", "count", "expect", "save"][..], &KEYS].concat();
        text.only(item.given(), &known, if symbol { "a symbol" } else { "a buffer" })?;
        let stated = item.count.as_ref().map(|count| *count.get_ref());
        let others = ["name", "type", "count", "expect", "save"];
        let fill = Fill::check(text, item, at, element, &others, room.most(stated, element))?;
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
        let save = item.save.as_ref().map(|save| Output::check(text, save)).transpose()?;
        Ok(Buffer { name, at, element, count, fill, symbol, expect, save })
    }

    /// Finds the symbol in `module`, gives a constant its values there, and settles the number of elements.
    pub(super) fn bind(&self, text: &Text, module: &mut Module) -> Result<(Place, u64), LaunchFileError> {
        let bad = |message: String| text.bad(self.at, message);
        if !self.symbol {
            return Ok((Place::Heap, self.count.unwrap_or(0)));
        }
        let (place, bytes) = match (module.global(&self.name), module.constant(&self.name)) {
            (Some((address, bytes)), _) => (Place::Global(address), bytes),
            (None, Some((_, bytes))) => (Place::Constant, bytes),
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
        if place == Place::Constant {
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

impl Output {
    fn check(text: &Text, save: &Spanned<Save>) -> Result<Self, LaunchFileError> {
        let (at, save) = (save.span().start, save.get_ref());
        let path = text.path(text.need(&save.file, "file", at)?.get_ref());
        Ok(Output { path, format: save.format })
    }
}
