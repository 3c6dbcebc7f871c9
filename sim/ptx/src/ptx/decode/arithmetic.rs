//! Decodes arithmetic, comparisons, moves and conversions.

use super::super::alu::{AluOp, AluRow, OperandType};
use super::super::ast::Operand;
use super::super::error::quote;
use super::super::float::Rounding;
use super::super::forms::{CarryForm, Combine, ConvertForm, OpClass, PredicateOp};
use super::super::instr::{NONE, Op};
use super::super::lane::{FLUSH, SATURATE};
use super::super::special::{self, SpecialSource};
use super::super::{CONST_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use super::{FORMS, FORMS_IN_ORDER, FunctionDecoder, Result, exactly, in_order, number_type};

impl FunctionDecoder<'_> {
    pub(super) fn table(&mut self, opcode: &str, operands: &[Operand]) -> Result<()> {
        let (row, flags) = find_row(opcode).ok_or("it is not known")?;
        self.row(row, flags, operands)
    }

    pub(super) fn row(&mut self, row: &'static AluRow, flags: u8, operands: &[Operand]) -> Result<()> {
        let wanted = row.operands.len() + 1;
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], row.result.width)?;
        self.row_sources(row, &operands[1..])?;
        self.instr.flags = flags;
        self.plain(Op::Alu(row.op), row.class)
    }

    pub(super) fn row_sources(&mut self, row: &'static AluRow, operands: &[Operand]) -> Result<()> {
        let mut indexes = [NONE; 3];
        for (index, (operand, of)) in indexes.iter_mut().zip(operands.iter().zip(row.operands)) {
            *index = self.source(operand, *of)?;
        }
        [self.instr.a, self.instr.b, self.instr.c] = indexes;
        Ok(())
    }

    pub(super) fn setp(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let combine = |name: &&str| match *name {
            "and" => Some(PredicateOp::And),
            "or" => Some(PredicateOp::Or),
            "xor" => Some(PredicateOp::Xor),
            _ => None,
        };
        let op = modifiers.iter().find_map(combine);
        let plain: Vec<&str> = modifiers.iter().copied().filter(|m| combine(m).is_none()).collect();
        let (row, flags) = find_row(&format!("setp.{}", plain.join("."))).ok_or("it is not known")?;
        let wanted = 3 + usize::from(op.is_some());
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        let mut second = NONE;
        self.instr.d = match &operands[0] {
            Operand::Pair(first, other) => {
                second = self.dest_register(*other, 1)?;
                self.dest_register(*first, 1)?
            }
            other => self.dest(other, 1)?,
        };
        self.row_sources(row, &operands[1..3])?;
        self.instr.flags = flags;
        let mut negate = false;
        if op.is_some() {
            (self.instr.c, negate) = self.predicate(&operands[3])?;
        }
        if op.is_none() && second == NONE {
            return self.plain(Op::Alu(row.op), row.class);
        }
        self.plain(Op::SetPredicate(row.op, Combine { op, negate, second }), row.class)
    }

    /// `set`: compares as `setp` does, with a word as result.
    pub(super) fn set_word(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [comparison @ .., result @ ("u32" | "s32" | "f32"), of] = modifiers else {
            return Err("its result must be u32, s32 or f32".to_owned());
        };
        let [d, compared @ ..] = operands else { return Err("it takes operands".to_owned()) };
        self.instr.vector[0] = self.dest(d, 32)?;
        let form: Vec<&str> = comparison.iter().copied().chain([*of]).collect();
        self.setp(&form, &[&[Operand::Sink], compared].concat())?;
        let (op, combine) = match self.instr.op {
            Op::SetPredicate(op, combine) => (op, combine),
            Op::Alu(op) => (op, Combine { op: None, negate: false, second: NONE }),
            _ => return Err("it is not known".to_owned()),
        };
        self.plain(Op::SetWord { op, combine, float: *result == "f32" }, self.instr.class)
    }

    pub(super) fn predicate_logic(&mut self, name: &str, operands: &[Operand]) -> Result<()> {
        if name == "not" {
            let [d, a] = exactly(operands)?;
            self.instr.d = self.dest(d, 1)?;
            self.instr.a = self.integer(a, 1)?;
            return self.plain(Op::Predicate(PredicateOp::Not), OpClass::Int);
        }
        let [d, a, b] = exactly(operands)?;
        self.instr.d = self.dest(d, 1)?;
        self.instr.a = self.integer(a, 1)?;
        self.instr.b = self.integer(b, 1)?;
        let op = match name {
            "and" => PredicateOp::And,
            "or" => PredicateOp::Or,
            _ => PredicateOp::Xor,
        };
        self.plain(Op::Predicate(op), OpClass::Int)
    }

    pub(super) fn mov(&mut self, opcode: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [d, a] = exactly(operands)?;
        match (d, a) {
            (_, Operand::Special(name)) if modifiers == ["pred"] && name == "%is_explicit_cluster" => {
                self.setp(&["ne", "u32"], &[d.clone(), a.clone(), Operand::Integer(0)])
            }
            _ if modifiers == ["pred"] => self.mov_predicate(d, a),
            (_, Operand::Vector(parts)) => self.pack(opcode, d, parts),
            (Operand::Vector(parts), _) => self.unpack(opcode, parts, a),
            (_, Operand::Special(name)) if matches!(special::find(name), Some(SpecialSource::Live(_))) => {
                let Some(SpecialSource::Live(live)) = special::find(name) else {
                    return Err("it is not known".to_owned());
                };
                let width = if matches!(name.as_str(), "%clock64" | "%globaltimer") { 64 } else { 32 };
                self.instr.d = self.dest(d, width)?;
                self.plain(Op::ReadLive(live), OpClass::Int)
            }
            _ => self.table(opcode, operands),
        }
    }

    pub(super) fn mov_predicate(&mut self, d: &Operand, a: &Operand) -> Result<()> {
        self.instr.d = self.dest(d, 1)?;
        let op = match a {
            Operand::Integer(0) => PredicateOp::False,
            Operand::Integer(_) => PredicateOp::True,
            Operand::NegatedRegister(id) => {
                self.instr.a = self.register_source(*id, 1)?;
                PredicateOp::Not
            }
            _ => {
                self.instr.a = self.integer(a, 1)?;
                PredicateOp::Move
            }
        };
        self.plain(Op::Predicate(op), OpClass::Int)
    }

    /// Returns the bits of one part when `parts` registers form a value of the opcode's type.
    pub(super) fn part_bits(opcode: &str, parts: usize) -> Result<u8> {
        let whole = opcode.rsplit('.').next().and_then(number_type).ok_or("its type is not known")?.bits;
        let bits = usize::from(whole) / parts.max(1);
        if matches!(parts, 2 | 4) && matches!(bits, 16 | 32) {
            Ok(bits as u8)
        } else {
            Err(format!("{whole} bits cannot be made of {parts} registers"))
        }
    }

    pub(super) fn pack(&mut self, opcode: &str, d: &Operand, parts: &[Operand]) -> Result<()> {
        let bits = Self::part_bits(opcode, parts.len())?;
        self.instr.d = self.dest(d, bits * parts.len() as u8)?;
        for (index, part) in parts.iter().enumerate() {
            self.instr.vector[index] = self.integer(part, bits)?;
        }
        self.instr.offset = i64::from(bits);
        self.plain(Op::Pack(parts.len() as u8), OpClass::Int)
    }

    pub(super) fn unpack(&mut self, opcode: &str, parts: &[Operand], a: &Operand) -> Result<()> {
        let bits = Self::part_bits(opcode, parts.len())?;
        for (index, part) in parts.iter().enumerate() {
            self.instr.vector[index] = if *part == Operand::Sink { NONE } else { self.dest(part, bits)? };
        }
        self.instr.a = self.integer(a, bits * parts.len() as u8)?;
        self.instr.offset = i64::from(bits);
        self.plain(Op::Unpack(parts.len() as u8), OpClass::Int)
    }

    pub(super) fn cvta(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (to, rest) = match modifiers {
            ["to", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let [space, size] = rest else { return Err("it needs a space and a size".to_owned()) };
        let window = match *space {
            "global" => 0,
            "shared" | "shared::cta" | "shared::cluster" => SHARED_WINDOW,
            "local" => LOCAL_WINDOW,
            "const" => CONST_WINDOW,
            "param" => PARAM_WINDOW,
            other => return Err(format!("space '{}' is not supported", quote(other))),
        };
        let (width, add, mov) = match *size {
            "u64" => (64, AluOp::Add64, AluOp::Move64),
            "u32" => (32, AluOp::Add32, AluOp::Move32),
            other => return Err(format!("size '{}' is not u32 or u64", quote(other))),
        };
        let [d, a] = exactly(operands)?;
        self.instr.d = self.dest(d, width)?;
        self.instr.a = self.integer(a, width)?;
        if window == 0 {
            return self.plain(Op::Alu(mov), OpClass::Int);
        }
        let shift = if to { window.wrapping_neg() } else { window };
        self.instr.b = self.constant(shift, width);
        self.plain(Op::Alu(add), OpClass::Int)
    }

    pub(super) fn cvt(&mut self, opcode: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [d, a] = exactly(operands)?;
        // Common conversions between registers of exactly their types are rows of the table.
        if let Some((row, flags)) = find_row(opcode) {
            let width = |operand: &Operand| match operand {
                Operand::Register(id) => Some(self.places[*id as usize].width),
                Operand::Special(_) => Some(32),
                _ => None,
            };
            if width(d) == Some(row.result.width) && width(a) == Some(row.operands[0].width) {
                return self.row(row, flags, operands);
            }
        }
        let mut form = convert_form(modifiers)?;
        let to = self.wide_dest(d, form.to.bits)?;
        form.to_register_bits = to.width;
        self.instr.d = to.index;
        match a {
            Operand::Register(id) => {
                let from = self.wide_source(*id, form.from.bits)?;
                form.from_wide = from.width == 64;
                self.instr.a = from.index;
            }
            _ => {
                let width = form.from.bits.max(16);
                form.from_wide = width == 64;
                self.instr.a = self.source(a, OperandType { width, float: form.from.number.is_float() })?;
            }
        }
        self.plain(Op::Convert(form), OpClass::Convert)
    }

    pub(super) fn carry(&mut self, name: &str, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut form = CarryForm {
            subtract: name.starts_with("sub"),
            reads: name.ends_with('c'),
            writes: false,
            product: None,
            signed: false,
            wide: false,
        };
        for modifier in modifiers {
            match *modifier {
                "cc" => form.writes = true,
                "lo" if name.starts_with("mad") => form.product = Some(false),
                "hi" if name.starts_with("mad") => form.product = Some(true),
                "u32" | "s32" | "b32" => form.wide = false,
                "u64" | "s64" | "b64" => form.wide = true,
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        form.signed = modifiers.iter().any(|m| m.starts_with('s'));
        if name.starts_with("mad") != form.product.is_some() {
            return Err("'.lo' or '.hi' is missing".to_owned());
        }
        let width = if form.wide { 64 } else { 32 };
        let wanted = 3 + usize::from(form.product.is_some());
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], width)?;
        self.instr.a = self.integer(&operands[1], width)?;
        self.instr.b = self.integer(&operands[2], width)?;
        if form.product.is_some() {
            self.instr.c = self.integer(&operands[3], width)?;
        }
        let flag = match self.carry_flag {
            Some(flag) => flag,
            None => {
                // The carry flag is a hidden predicate. It has a scoreboard number, because instructions depend on
                // each other through it.
                let flag = self.hidden(1);
                self.carry_flag = Some(flag);
                flag
            }
        };
        self.instr.vector[7] = flag;
        let number = (self.named[0] + self.named[1]) as u16 + flag;
        if form.reads {
            self.sources.push(number);
        }
        if form.writes {
            self.dests.push(number);
        }
        let class = if form.product.is_some() { OpClass::IntMul } else { OpClass::Int };
        self.plain(Op::Carry(form), class)
    }

    pub(super) fn insert(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let width = match modifiers {
            ["b32"] => 32,
            ["b64"] => 64,
            _ => return Err("its type must be b32 or b64".to_owned()),
        };
        let [d, a, b, position, length] = exactly(operands)?;
        self.instr.d = self.dest(d, width)?;
        self.instr.a = self.integer(a, width)?;
        self.instr.b = self.integer(b, width)?;
        self.instr.c = self.integer(position, 32)?;
        self.instr.vector[0] = self.integer(length, 32)?;
        self.plain(Op::Insert { wide: width == 64 }, OpClass::Int)
    }

    pub(super) fn lop3(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let [d, a, b, c, Operand::Integer(table @ 0..=255)] = exactly(operands)? else {
            return Err("its fifth operand must be a number from 0 to 255".to_owned());
        };
        if modifiers != ["b32"] {
            return Err("its type must be b32".to_owned());
        }
        self.instr.d = self.dest(d, 32)?;
        self.instr.a = self.integer(a, 32)?;
        self.instr.b = self.integer(b, 32)?;
        self.instr.c = self.integer(c, 32)?;
        self.instr.offset = *table as i64;
        self.plain(Op::Lop3, OpClass::Int)
    }
}

/// Returns the row for a form. `.ftz` and `.sat` of single-precision forms are stripped and returned as flags.
fn find_row(opcode: &str) -> Option<(&'static AluRow, u8)> {
    if let Some(row) = FORMS.get(opcode) {
        return Some((row, 0));
    }
    let mut flags = 0;
    let mut kept = Vec::new();
    for part in opcode.split('.') {
        match part {
            "ftz" => flags |= FLUSH,
            "sat" => flags |= SATURATE,
            _ => kept.push(part),
        }
    }
    let stripped = kept.join(".");
    let ordered = || FORMS_IN_ORDER.get(&in_order(opcode)).map(|row| (row, 0));
    let (row, flags) = FORMS
        .get(&*stripped)
        .map(|row| (row, flags))
        .or_else(ordered)
        .or_else(|| FORMS_IN_ORDER.get(&in_order(&stripped)).map(|row| (row, flags)))?;
    let single = |of: &OperandType| of.float && of.width == 32;
    let floats = row.operands.iter().any(single) || single(&row.result);
    let flush_fits = flags & FLUSH == 0 || floats;
    let saturate_fits = flags & SATURATE == 0 || row.result.float;
    (flush_fits && saturate_fits).then_some((row, flags))
}

fn convert_form(modifiers: &[&str]) -> Result<ConvertForm> {
    let mut types = Vec::new();
    let (mut rounding, mut integral, mut saturate, mut flush) = (None, false, false, false);
    for modifier in modifiers {
        let to_integral = modifier.len() == 3 && modifier.starts_with('r') && modifier.ends_with('i');
        match modifier.trim_end_matches('i') {
            "rn" => rounding = Some(Rounding::Nearest),
            "rz" => rounding = Some(Rounding::Zero),
            "rm" => rounding = Some(Rounding::Down),
            "rp" => rounding = Some(Rounding::Up),
            "sat" => saturate = true,
            "ftz" => flush = true,
            other => types
                .push(number_type(other).ok_or_else(|| format!("modifier '{}' is not known", quote(other)))?),
        }
        integral |= to_integral;
    }
    let [to, from] = types[..] else { return Err(format!("it needs two types, got {}", types.len())) };
    let float_to_integer = from.number.is_float() && !to.number.is_float();
    if float_to_integer && !integral {
        return Err("a conversion to an integer needs .rni, .rzi, .rmi or .rpi".to_owned());
    }
    if integral && !from.number.is_float() {
        return Err("only a conversion from floating point rounds to an integral value".to_owned());
    }
    let narrows = to.number.is_float() && (!from.number.is_float() || from.bits > to.bits);
    if narrows && rounding.is_none() && from.bits >= to.bits {
        return Err("it needs a rounding: .rn, .rz, .rm or .rp".to_owned());
    }
    Ok(ConvertForm {
        to,
        from,
        rounding: rounding.unwrap_or(Rounding::Nearest),
        integral,
        saturate,
        flush,
        to_register_bits: 0,
        from_wide: false,
    })
}
