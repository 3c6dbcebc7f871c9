//! Which launches follow one another: steps in the file's order, and the loops that repeat them.
use super::buffer::Buffer;
use super::element::{Class, Element};
use super::error::LaunchFileError;
use super::fill;
use super::format::{Is, Item, Loop, RawFile, RawLaunch, Text};
use super::room::Room;
use super::view::View;
use crate::workload::{Arg, LaunchDims};
use toml::Spanned;

/// One launch, checked.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Where the launch file states its kernel, in bytes.
    pub at: usize,
    pub kernel: String,
    pub dims: LaunchDims,
    /// Each with its place in the launch file.
    pub args: Vec<(usize, Argument)>,
}

/// An argument, checked.
#[derive(Clone, Debug)]
pub(super) enum Argument {
    /// A number; each turn of the loop adds `per_turn`.
    Scalar { element: Element, bits: u64, per_turn: u64 },
    /// Several numbers in one parameter, as they lie in memory.
    Structure(Vec<u8>),
    /// The address of an element of a buffer.
    Address { buffer: usize, offset: u64 },
    /// The handle of a texture.
    Handle(usize),
}

impl Argument {
    /// The argument in turn `turn`, counted from 0; `addresses` are the buffers', `handles` the textures'.
    pub(super) fn arg(&self, turn: u64, addresses: &[u64], handles: &[u64]) -> Arg {
        match self {
            Self::Handle(texture) => Arg::U64(handles[*texture]),
            Self::Address { buffer, offset } => Arg::Ptr(addresses[*buffer] + offset),
            Self::Structure(bytes) => Arg::Bytes(bytes.clone()),
            Self::Scalar { element, bits, per_turn } => {
                let bits = fill::after(*element, *bits, *per_turn, turn);
                match (element, element.class(), element.bytes()) {
                    (Element::F32, ..) => Arg::F32(f32::from_bits(bits as u32)),
                    (Element::F64, ..) => Arg::F64(f64::from_bits(bits)),
                    (_, Class::Unsigned | Class::Signed, 4) => Arg::U32(bits as u32),
                    (_, Class::Unsigned | Class::Signed, 8) => Arg::U64(bits),
                    (_, _, bytes) => Arg::Bytes(bits.to_le_bytes()[..bytes].to_vec()),
                }
            }
        }
    }
}

/// Launches that one loop repeats, or a single launch.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub steps: Vec<Step>,
    pub turns: Turns,
}

/// How often a stage is repeated, and what the host does meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Where the launch file states the loop, in bytes.
    pub at: usize,
    pub name: String,
    /// As many, or the most when there is a flag.
    pub most: Option<u64>,
    pub until: Option<Flag>,
    /// Buffers that change places between turns.
    pub swap: Vec<[usize; 2]>,
}

/// An element that ends a loop.
#[derive(Clone, Debug)]
pub(super) struct Flag {
    /// Where the launch file states it, in bytes.
    pub at: usize,
    pub buffer: usize,
    pub index: u64,
    /// What it is when the loop ends.
    pub is: Is,
    /// What the host writes there before every turn.
    pub reset: Option<u64>,
}

/// What the file names beside launches.
struct Known<'a> {
    buffers: &'a mut Vec<Buffer>,
    textures: &'a [View],
    room: &'a mut Room,
}

/// The stages of a launch file; buffers that only one argument uses are added to `buffers`.
pub(super) fn plan(
    text: &Text,
    raw: &RawFile,
    buffers: &mut Vec<Buffer>,
    textures: &[View],
    room: &mut Room,
) -> Result<Vec<Stage>, LaunchFileError> {
    let mut known = Known { buffers, textures, room };
    if let Some(launch) = simple(text, raw)? {
        let step = step(text, &launch, raw.kernel.as_ref().map_or(0, |k| k.span().start), false, &mut known)?;
        return Ok(vec![Stage { steps: vec![step], turns: Turns::once() }]);
    }
    let mut loops = Vec::new();
    for table in &raw.r#loop {
        loops.push(turns(text, table, known.buffers, &loops)?);
    }
    let mut stages: Vec<Stage> = Vec::new();
    for launch in &raw.launch {
        let (at, launch) = (launch.span().start, launch.get_ref());
        let step = step(text, launch, at, launch.r#loop.is_some(), &mut known)?;
        let Some(name) = &launch.r#loop else {
            stages.push(Stage { steps: vec![step], turns: Turns::once() });
            continue;
        };
        if let Some(last) = stages.last_mut().filter(|stage| stage.turns.name == *name.get_ref()) {
            last.steps.push(step);
            continue;
        }
        if stages.iter().any(|stage| stage.turns.name == *name.get_ref()) {
            let message = format!("the launches of loop `{}` do not follow one another", name.get_ref());
            return Err(text.bad(name.span().start, message));
        }
        let turns = loops.iter().find(|turns| turns.name == *name.get_ref()).ok_or_else(|| {
            let names = list(loops.iter().map(|turns| turns.name.as_str()));
            text.bad(name.span().start, format!("no loop `{}`: there are {names}", name.get_ref()))
        })?;
        stages.push(Stage { steps: vec![step], turns: turns.clone() });
    }
    if let Some(idle) = loops.iter().find(|turns| stages.iter().all(|stage| stage.turns.name != turns.name)) {
        return Err(text.bad(idle.at, format!("loop `{}` has no launches", idle.name)));
    }
    Ok(stages)
}

/// The launch at the top of the file, where there is one.
fn simple(text: &Text, raw: &RawFile) -> Result<Option<RawLaunch>, LaunchFileError> {
    let first = [
        raw.kernel.as_ref().map(|kernel| ("kernel", kernel.span().start)),
        raw.grid.as_ref().map(|grid| ("grid", grid.span().start)),
        raw.block.as_ref().map(|block| ("block", block.span().start)),
        raw.dynamic_shared.as_ref().map(|bytes| ("dynamic_shared", bytes.span().start)),
        raw.arg.first().map(|arg| ("arg", arg.span().start)),
    ];
    let first = first.into_iter().flatten().next();
    match (first, raw.launch.first()) {
        (Some((key, at)), Some(_)) => Err(text
            .bad(at, format!("`{key}`: allowed at the top of the file or in [[launch]] tables, not both"))),
        (None, None) => Err(text.bad(0, "missing field `kernel`, or a [[launch]] table")),
        (None, Some(_)) => Ok(None),
        (Some((_, at)), None) => {
            if let Some(table) = raw.r#loop.first() {
                return Err(text.bad(table.span().start, "a loop is for [[launch]] tables: there are none"));
            }
            Ok(Some(RawLaunch {
                kernel: text.need(&raw.kernel, "kernel", at)?.clone(),
                grid: text.need(&raw.grid, "grid", at)?.clone(),
                block: text.need(&raw.block, "block", at)?.clone(),
                dynamic_shared: raw.dynamic_shared.as_ref().map_or(0, |bytes| *bytes.get_ref()),
                arg: raw.arg.clone(),
                r#loop: None,
            }))
        }
    }
}

fn step(
    text: &Text,
    raw: &RawLaunch,
    at: usize,
    repeated: bool,
    known: &mut Known,
) -> Result<Step, LaunchFileError> {
    let dims = LaunchDims {
        grid: triple(text, "grid", &raw.grid)?,
        block: triple(text, "block", &raw.block)?,
        dynamic_shared: raw.dynamic_shared,
    };
    let mut args = Vec::with_capacity(raw.arg.len());
    for (index, item) in raw.arg.iter().enumerate() {
        args.push((item.span().start, argument(text, item, index, repeated, known)?));
    }
    let at = if raw.kernel.span().is_empty() { at } else { raw.kernel.span().start };
    Ok(Step { at, kernel: raw.kernel.get_ref().clone(), dims, args })
}

fn triple(text: &Text, key: &str, value: &Spanned<Vec<u32>>) -> Result<[u32; 3], LaunchFileError> {
    match value.get_ref().as_slice() {
        [x] => Ok([*x, 1, 1]),
        [x, y] => Ok([*x, *y, 1]),
        [x, y, z] => Ok([*x, *y, *z]),
        _ => Err(text.bad(value.span().start, format!("{key}: must be one to three numbers"))),
    }
}

fn argument(
    text: &Text,
    spanned: &Spanned<Item>,
    index: usize,
    repeated: bool,
    known: &mut Known,
) -> Result<Argument, LaunchFileError> {
    let (at, item) = (spanned.span().start, spanned.get_ref());
    if let Some(name) = &item.texture {
        text.only(item.given(), &["texture"], "an argument that is a texture")?;
        let wanted = name.get_ref();
        let found = known.textures.iter().position(|texture| texture.name == *wanted);
        return found.map(Argument::Handle).ok_or_else(|| {
            let names = list(known.textures.iter().map(|texture| texture.name.as_str()));
            text.bad(name.span().start, format!("no texture `{wanted}`: there are {names}"))
        });
    }
    let buffers = &mut *known.buffers;
    if let Some(name) = &item.buffer {
        text.only(item.given(), &["buffer", "offset"], "an argument that is a buffer")?;
        let buffer = find(text, name, buffers)?;
        let offset = item.offset.as_ref().map_or(0, |offset| *offset.get_ref());
        let known = buffers[buffer].count.unwrap_or(u64::MAX);
        if offset >= known {
            let place = item.offset.as_ref().map_or(at, |offset| offset.span().start);
            return Err(text.bad(place, format!("offset = {offset}: must be 0 to {}", known - 1)));
        }
        let bytes = buffers[buffer].element.bytes() as u64;
        return Ok(Argument::Address { buffer, offset: offset.saturating_mul(bytes) });
    }
    if item.count.is_some() || item.init.is_some() || item.file.is_some() {
        buffers.push(Buffer::anonymous(text, spanned, format!("arg{index}"), known.room)?);
        return Ok(Argument::Address { buffer: buffers.len() - 1, offset: 0 });
    }
    let element = *text.need(&item.element, "type", at)?.get_ref();
    text.only(item.given(), &["type", "value", "values", "per_turn"], "an argument that is a number")?;
    match (&item.value, &item.values) {
        (Some(value), None) => {
            let per_turn = match &item.per_turn {
                Some(step) if !repeated => {
                    return Err(text.bad(step.span().start, "`per_turn` is for launches in a loop"));
                }
                Some(step) => fill::bits(text, step, "per_turn", element)?,
                None => 0,
            };
            Ok(Argument::Scalar { element, bits: fill::bits(text, value, "value", element)?, per_turn })
        }
        (None, Some(values)) if item.per_turn.is_none() => {
            Ok(Argument::Structure(fill::list(text, values, element)?))
        }
        _ => {
            let message = "an argument has one of `buffer` and `texture` (a name), `value`, `values` and `count` (a buffer of its own)";
            Err(text.bad(at, message))
        }
    }
}

/// The buffer called `name`.
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

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = names.collect::<Vec<_>>().join(", ");
    if names.is_empty() { "none".into() } else { names }
}

impl Turns {
    /// A launch outside of loops.
    fn once() -> Self {
        Turns { at: 0, name: String::new(), most: Some(1), until: None, swap: Vec::new() }
    }
}

fn turns(
    text: &Text,
    table: &Spanned<Loop>,
    buffers: &[Buffer],
    known: &[Turns],
) -> Result<Turns, LaunchFileError> {
    let (at, raw) = (table.span().start, table.get_ref());
    let name = text.need(&raw.name, "name", at)?;
    if name.get_ref().is_empty() || known.iter().any(|other| other.name == *name.get_ref()) {
        let message = format!("name = \"{}\": must be a name that no other loop has", name.get_ref());
        return Err(text.bad(name.span().start, message));
    }
    let most = raw.turns.as_ref().map(|turns| *turns.get_ref());
    if let (Some(0), Some(turns)) = (most, &raw.turns) {
        return Err(text.bad(turns.span().start, "turns = 0: must be 1 or more"));
    }
    if most.is_none() && raw.until.is_none() {
        return Err(text.bad(at, format!("loop `{}` needs `turns` or `until`", name.get_ref())));
    }
    let mut swap = Vec::new();
    for pair in raw.swap.iter().flat_map(|pairs| pairs.get_ref()) {
        let place = raw.swap.as_ref().map_or(at, |pairs| pairs.span().start);
        let at = |name: &String| Spanned::new(place..place, name.clone());
        let [a, b] = [find(text, &at(&pair[0]), buffers)?, find(text, &at(&pair[1]), buffers)?];
        let alike = |b: &Buffer| (b.element, b.count, b.symbol);
        if a == b || alike(&buffers[a]) != alike(&buffers[b]) || buffers[a].symbol {
            let message = format!(
                "swap = [[\"{}\", \"{}\"]]: must be two different buffers of the same type and count",
                pair[0], pair[1]
            );
            return Err(text.bad(place, message));
        }
        swap.push([a, b]);
    }
    let until = raw.until.as_ref().map(|until| flag(text, until, buffers)).transpose()?;
    Ok(Turns { at, name: name.get_ref().clone(), most, until, swap })
}

fn flag(
    text: &Text,
    until: &Spanned<super::format::Until>,
    buffers: &[Buffer],
) -> Result<Flag, LaunchFileError> {
    let (at, raw) = (until.span().start, until.get_ref());
    let buffer = find(text, text.need(&raw.buffer, "buffer", at)?, buffers)?;
    let index = raw.index.unwrap_or(0);
    let is = *text.need(&raw.is, "is", at)?.get_ref();
    let element = buffers[buffer].element;
    let reset = raw.reset.as_ref().map(|reset| fill::bits(text, reset, "reset", element)).transpose()?;
    Ok(Flag { at, buffer, index, is, reset })
}
