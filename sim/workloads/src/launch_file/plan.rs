//! Order of the launches: steps in file order, and the loops that repeat them.
use super::action::Action;
use super::buffer::{Buffer, find, list};
use super::element::{Class, Element, FileNumber};
use super::error::LaunchFileError;
use super::expression::TurnExpression;
use super::fill;
use super::format::{Is, Item, Loop, RawFile, RawLaunch, Text};
use super::room::Room;
use super::structure::{self, Patch};
use super::view::TextureView;
use crate::workload::{Arg, LaunchDims};
use toml::Spanned;

/// A checked launch.
#[derive(Clone, Debug)]
pub(super) struct PlannedLaunch {
    /// Byte offset of the kernel's name in the launch file.
    pub at: usize,
    pub kernel: String,
    /// CTAs per grid and threads per CTA in each direction, with their positions in the launch file.
    pub grid: LaunchExtent,
    pub block: LaunchExtent,
    pub dynamic_shared: u32,
    /// Arguments, each with its position in the launch file.
    pub args: Vec<(usize, CheckedArgument)>,
    /// Numbers of the enclosing loops, the outermost first.
    pub loops: Vec<usize>,
}

/// Sizes in three directions, which may depend on turns.
#[derive(Clone, Debug)]
pub(super) struct LaunchExtent {
    at: usize,
    key: &'static str,
    sides: [TurnExpression; 3],
}

impl PlannedLaunch {
    /// Returns the size of the launch for the given turn of each enclosing loop.
    ///
    /// # Errors
    /// [`LaunchFileError`] if a side is not a number from 1 to 2^32 - 1.
    pub(super) fn dims(&self, text: &Text, turns: &[u64]) -> Result<LaunchDims, LaunchFileError> {
        let triple = |extent: &LaunchExtent| {
            let mut out = [0; 3];
            for (side, expression) in out.iter_mut().zip(&extent.sides) {
                let value = expression.value(turns);
                let fits = value.and_then(|value| u32::try_from(value).ok()).filter(|side| *side > 0);
                *side = fits.ok_or_else(|| {
                    let value = value.map_or("no number".into(), |value| value.to_string());
                    let turn = match turns {
                        [] => String::new(),
                        turns => {
                            let turns = turns.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                            format!(" in turn {turns}")
                        }
                    };
                    let message = format!("{} = {value}{turn}: must be 1 to {}", extent.key, u32::MAX);
                    text.bad(extent.at, message)
                })?;
            }
            Ok(out)
        };
        let (grid, block) = (triple(&self.grid)?, triple(&self.block)?);
        Ok(LaunchDims { dynamic_shared: self.dynamic_shared, ..LaunchDims::new(grid, block) })
    }
}

/// A checked argument.
#[derive(Clone, Debug)]
pub(super) enum CheckedArgument {
    /// A number. Each turn of the loop adds `per_turn`.
    Scalar { element: Element, bits: u64, per_turn: u64 },
    /// A number that depends on the turns of the enclosing loops.
    Computed { element: Element, expression: TurnExpression },
    /// Bytes of several numbers in one parameter, and the addresses among them.
    Structure(Vec<u8>, Vec<Patch>),
    /// The address of a buffer's element.
    Address { buffer: usize, offset: u64 },
    /// The handle of a texture.
    Handle(usize),
}

impl CheckedArgument {
    /// Returns the argument for the given turn of each enclosing loop. `addresses` are the buffers', `handles` the
    /// textures'.
    pub(super) fn arg(&self, turns: &[u64], addresses: &[u64], handles: &[u64]) -> Arg {
        match self {
            Self::Handle(texture) => Arg::U64(handles[*texture]),
            Self::Address { buffer, offset } => Arg::Ptr(addresses[*buffer] + offset),
            Self::Structure(bytes, patches) => {
                let mut bytes = bytes.clone();
                patches.iter().for_each(|patch| patch.write(addresses, &mut bytes));
                Arg::Bytes(bytes)
            }
            Self::Scalar { element, bits, per_turn } => {
                let turn = turns.last().copied().unwrap_or(0);
                scalar(*element, fill::after(*element, *bits, *per_turn, turn))
            }
            Self::Computed { element, expression } => {
                let value = expression.value(turns).unwrap_or(0);
                let bits = match element.class() {
                    Class::Float => element.of_float(value as f64),
                    _ => value as u64 & element.mask(),
                };
                scalar(*element, bits)
            }
        }
    }
}

/// Returns a number as an argument.
fn scalar(element: Element, bits: u64) -> Arg {
    match (element, element.class(), element.bytes()) {
        (Element::F32, ..) => Arg::F32(f32::from_bits(bits as u32)),
        (Element::F64, ..) => Arg::F64(f64::from_bits(bits)),
        (_, Class::Unsigned | Class::Signed, 4) => Arg::U32(bits as u32),
        (_, Class::Unsigned | Class::Signed, 8) => Arg::U64(bits),
        (_, _, bytes) => Arg::Bytes(bits.to_le_bytes()[..bytes].to_vec()),
    }
}

/// One operation of the host program.
#[derive(Clone, Debug)]
pub(super) enum Move {
    Launch(PlannedLaunch),
    Act(Action),
    /// Enters the loop with this number.
    Enter(usize),
    /// Ends a turn of loop `number`. Unless it was the last, execution continues at move `start`.
    Again {
        number: usize,
        start: usize,
    },
}

/// Order of all operations of the host program.
#[derive(Clone, Debug, Default)]
pub(super) struct HostPlan {
    pub moves: Vec<Move>,
    pub loops: Vec<Turns>,
}

impl HostPlan {
    /// Returns the launches in file order.
    pub(super) fn steps(&self) -> impl Iterator<Item = &PlannedLaunch> {
        self.moves.iter().filter_map(|next| match next {
            Move::Launch(step) => Some(step),
            _ => None,
        })
    }

    /// Returns the `[[host]]` operations in file order.
    pub(super) fn actions(&self) -> impl Iterator<Item = &Action> {
        self.moves.iter().filter_map(|next| match next {
            Move::Act(action) => Some(action),
            _ => None,
        })
    }
}

/// A loop: its turns, and the host's work between them.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    /// Byte offset of the loop in the launch file.
    pub at: usize,
    pub name: String,
    /// Number of the enclosing loop.
    within: Option<usize>,
    /// Number of turns, or their max if the loop has a flag.
    pub most: Option<u64>,
    pub until: Option<Flag>,
    /// Pairs of buffers that are swapped between turns.
    pub swap: Vec<[usize; 2]>,
}

/// An element that ends a loop.
#[derive(Clone, Debug)]
pub(super) struct Flag {
    /// Byte offset in the launch file.
    pub at: usize,
    pub buffer: usize,
    pub index: u64,
    /// Value at which the loop ends.
    pub is: Is,
    /// Value that the host writes to the element before every turn.
    pub reset: Option<u64>,
}

/// Named items of the file other than launches.
struct NamedItems<'a> {
    buffers: &'a mut Vec<Buffer>,
    textures: &'a [TextureView],
    room: &'a mut Room,
}

/// Returns the plan of a launch file. Adds buffers that only one argument uses to `buffers`.
pub(super) fn plan(
    text: &Text,
    raw: &RawFile,
    buffers: &mut Vec<Buffer>,
    textures: &[TextureView],
    room: &mut Room,
) -> Result<HostPlan, LaunchFileError> {
    let mut known = NamedItems { buffers, textures, room };
    if let Some(launch) = simple(text, raw)? {
        let at = raw.kernel.as_ref().map_or(0, |k| k.span().start);
        let step = step(text, &launch, at, (&[], &[]), &mut known)?;
        return Ok(HostPlan { moves: vec![Move::Launch(step)], loops: Vec::new() });
    }
    let mut loops = Vec::new();
    for table in &raw.r#loop {
        loops.push(turns(text, table, known.buffers, &loops)?);
    }
    let mut moves =
        Moves { text, loops: &loops, moves: Vec::new(), open: Vec::new(), seen: vec![false; loops.len()] };
    let launches = raw.launch.iter().map(|launch| (launch.span().start, Some(launch), None));
    let actions = raw.host.iter().map(|host| (host.span().start, None, Some(host)));
    let mut tables: Vec<_> = launches.chain(actions).collect();
    tables.sort_by_key(|(at, ..)| *at);
    for (at, launch, host) in tables {
        let name = launch.map_or_else(
            || host.and_then(|host| host.get_ref().r#loop.as_ref()),
            |launch| launch.get_ref().r#loop.as_ref(),
        );
        let path = moves.go_to(name)?;
        if let Some(launch) = launch {
            let names: Vec<&str> = path.iter().map(|number| loops[*number].name.as_str()).collect();
            let step = step(text, launch.get_ref(), at, (&path, &names), &mut known)?;
            moves.moves.push(Move::Launch(step));
        }
        if let Some(host) = host {
            moves.moves.push(Move::Act(Action::check(text, host, known.buffers)?));
        }
    }
    moves.go_to(None)?;
    let (moves, seen) = (moves.moves, moves.seen);
    if let Some((idle, _)) = loops.iter().zip(seen).find(|(_, seen)| !seen) {
        return Err(text.bad(idle.at, format!("loop `{}` has no launches", idle.name)));
    }
    Ok(HostPlan { moves, loops })
}

struct Moves<'a> {
    text: &'a Text,
    loops: &'a [Turns],
    moves: Vec<Move>,
    /// Open loops, the outermost first, with the move at which each turn starts.
    open: Vec<(usize, usize)>,
    /// `true` for loops that have been opened.
    seen: Vec<bool>,
}

impl Moves<'_> {
    /// Closes and opens loops, so that the next move is in the loop `name`. Returns the enclosing loops.
    fn go_to(&mut self, name: Option<&Spanned<String>>) -> Result<Vec<usize>, LaunchFileError> {
        let mut path = Vec::new();
        if let Some(name) = name {
            let found = self.loops.iter().position(|turns| turns.name == *name.get_ref());
            let mut next = Some(found.ok_or_else(|| {
                let names = list(self.loops.iter().map(|turns| turns.name.as_str()));
                self.text.bad(name.span().start, format!("no loop `{}`: there are {names}", name.get_ref()))
            })?);
            while let Some(number) = next {
                path.insert(0, number);
                next = self.loops[number].within;
            }
        }
        let common = self.open.iter().zip(&path).take_while(|((open, _), number)| open == *number).count();
        while self.open.len() > common {
            if let Some((number, start)) = self.open.pop() {
                self.moves.push(Move::Again { number, start });
            }
        }
        for &number in &path[common..] {
            if std::mem::replace(&mut self.seen[number], true) {
                let message =
                    format!("the launches of loop `{}` do not follow one another", self.loops[number].name);
                return Err(self.text.bad(name.map_or(0, |name| name.span().start), message));
            }
            self.moves.push(Move::Enter(number));
            self.open.push((number, self.moves.len()));
        }
        Ok(path)
    }
}

/// Returns the launch at the top level of the file, if any.
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
            if let Some(table) = raw.host.first() {
                let message = "[[host]] tables go with [[launch]] tables: there are none";
                return Err(text.bad(table.span().start, message));
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
    (loops, names): (&[usize], &[&str]),
    known: &mut NamedItems,
) -> Result<PlannedLaunch, LaunchFileError> {
    let grid = extent(text, "grid", &raw.grid, names)?;
    let block = extent(text, "block", &raw.block, names)?;
    let mut args = Vec::with_capacity(raw.arg.len());
    for (index, item) in raw.arg.iter().enumerate() {
        args.push((item.span().start, argument(text, item, index, names, known)?));
    }
    let at = if raw.kernel.span().is_empty() { at } else { raw.kernel.span().start };
    let (kernel, dynamic_shared) = (raw.kernel.get_ref().clone(), raw.dynamic_shared);
    Ok(PlannedLaunch { at, kernel, grid, block, dynamic_shared, args, loops: loops.to_vec() })
}

fn extent(
    text: &Text,
    key: &'static str,
    value: &Spanned<Vec<FileNumber>>,
    loops: &[&str],
) -> Result<LaunchExtent, LaunchFileError> {
    let at = value.span().start;
    let mut sides = [const { TurnExpression::Number(1) }; 3];
    if !matches!(value.get_ref().len(), 1..=3) {
        return Err(text.bad(at, format!("{key}: must be one to three numbers")));
    }
    for (side, number) in sides.iter_mut().zip(value.get_ref()) {
        *side = TurnExpression::read(number, loops).map_err(|why| text.bad(at, format!("{key}: {why}")))?;
    }
    Ok(LaunchExtent { at, key, sides })
}

fn argument(
    text: &Text,
    spanned: &Spanned<Item>,
    index: usize,
    loops: &[&str],
    known: &mut NamedItems,
) -> Result<CheckedArgument, LaunchFileError> {
    let (at, item) = (spanned.span().start, spanned.get_ref());
    if let Some(name) = &item.texture {
        text.only(item.given(), &["texture"], "an argument that is a texture")?;
        let wanted = name.get_ref();
        let found = known.textures.iter().position(|texture| texture.name == *wanted);
        return found.map(CheckedArgument::Handle).ok_or_else(|| {
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
        return Ok(CheckedArgument::Address { buffer, offset: offset.saturating_mul(bytes) });
    }
    if item.count.is_some() || item.init.is_some() || item.file.is_some() {
        buffers.push(Buffer::anonymous(text, spanned, format!("arg{index}"), known.room)?);
        return Ok(CheckedArgument::Address { buffer: buffers.len() - 1, offset: 0 });
    }
    if let Some(members) = &item.members {
        text.only(item.given(), &["members", "values", "addresses"], "an argument that is a structure")?;
        let values = text.need(&item.values, "values", at)?;
        let bytes = structure::values(text, members, values)?;
        let patches = structure::patches(text, item, bytes.len() as u64, buffers)?;
        return Ok(CheckedArgument::Structure(bytes, patches));
    }
    let element = *text.need(&item.element, "type", at)?.get_ref();
    let known = ["type", "value", "values", "per_turn", "expression", "addresses"];
    text.only(item.given(), &known, "an argument that is a number")?;
    if let Some(expression) = &item.expression {
        text.only(item.given(), &["type", "expression"], "an argument that depends on turns")?;
        let place = expression.span().start;
        let number = FileNumber::Text(expression.get_ref().clone());
        let expression = TurnExpression::read(&number, loops)
            .map_err(|why| text.bad(place, format!("expression: {why}")))?;
        return Ok(CheckedArgument::Computed { element, expression });
    }
    match (&item.value, &item.values) {
        (Some(value), None) if item.addresses.is_none() => {
            let per_turn = match &item.per_turn {
                Some(step) if loops.is_empty() => {
                    return Err(text.bad(step.span().start, "`per_turn` is for launches in a loop"));
                }
                Some(step) => fill::bits(text, step, "per_turn", element)?,
                None => 0,
            };
            Ok(CheckedArgument::Scalar {
                element,
                bits: fill::bits(text, value, "value", element)?,
                per_turn,
            })
        }
        (None, Some(values)) if item.per_turn.is_none() => {
            let bytes = fill::list(text, values, element)?;
            let patches = structure::patches(text, item, bytes.len() as u64, buffers)?;
            Ok(CheckedArgument::Structure(bytes, patches))
        }
        _ => {
            let message = "an argument has one of `buffer` and `texture` (a name), `value`, `values` and `count` (a buffer of its own)";
            Err(text.bad(at, message))
        }
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
    let within = raw.within.as_ref().map(|outer| {
        let found = known.iter().position(|turns| turns.name == *outer.get_ref());
        found.ok_or_else(|| {
            let names = list(known.iter().map(|turns| turns.name.as_str()));
            let message = format!("no loop `{}` before this one: there are {names}", outer.get_ref());
            text.bad(outer.span().start, message)
        })
    });
    let within = within.transpose()?;
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
    Ok(Turns { at, name: name.get_ref().clone(), within, most, until, swap })
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
