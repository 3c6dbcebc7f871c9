//! Decodes video instructions.

use super::super::ast::Operand;
use super::super::error::quote;
use super::super::forms::{OpClass, Rare};
use super::super::instr::Op;
use super::super::video::{Selectors, VideoForm, VideoOp, VideoSecond, WHOLE};
use super::{FunctionDecoder, Result};

/// Returns the operation that PTX calls `name`, and the number of parts of a register.
fn named(name: &str) -> Option<(VideoOp, u8)> {
    let (stem, parts) = match name.strip_suffix('2') {
        Some(stem) => (stem, 2),
        None => name.strip_suffix('4').map_or((name, 1), |stem| (stem, 4)),
    };
    let op = match stem {
        "vadd" => VideoOp::Add,
        "vsub" => VideoOp::Subtract,
        "vavrg" if parts > 1 => VideoOp::Average,
        "vabsdiff" => VideoOp::Difference,
        "vmin" => VideoOp::Minimum,
        "vmax" => VideoOp::Maximum,
        "vshl" if parts == 1 => VideoOp::ShiftLeft,
        "vshr" if parts == 1 => VideoOp::ShiftRight,
        "vset" => VideoOp::Equal,
        _ => return None,
    };
    Some((op, parts))
}

fn comparison(name: &str) -> Option<VideoOp> {
    Some(match name {
        "eq" => VideoOp::Equal,
        "ne" => VideoOp::NotEqual,
        "lt" => VideoOp::Less,
        "le" => VideoOp::LessEqual,
        "gt" => VideoOp::Greater,
        "ge" => VideoOp::GreaterEqual,
        _ => return None,
    })
}

/// Returns the digits of a selector such as `b3210`, the last first.
fn digits(selector: &str, kind: char, most: u8) -> Result<Vec<u8>> {
    let wrong = || format!("selector '{}' does not suit it", quote(selector));
    let digits = selector.strip_prefix(kind).ok_or_else(wrong)?;
    let digits: Vec<u8> = digits.bytes().rev().map(|digit| digit.wrapping_sub(b'0')).collect();
    if digits.iter().all(|digit| *digit < most) { Ok(digits) } else { Err(wrong()) }
}

/// Returns the code of a byte or half-word.
fn code(selector: &str) -> Result<u8> {
    match (digits(selector, 'b', 4), digits(selector, 'h', 2)) {
        (Ok(digits), _) if digits.len() == 1 => Ok(digits[0]),
        (_, Ok(digits)) if digits.len() == 1 => Ok(4 + digits[0]),
        _ => Err(format!("selector '{}' is not b0 to b3, h0 or h1", quote(selector))),
    }
}

/// Returns the operand without its selector, and the selector.
fn selected(operand: &Operand) -> (Operand, Option<&str>) {
    match operand {
        Operand::Part(id, selector) => (Operand::Register(*id), Some(selector)),
        other => (other.clone(), None),
    }
}

impl FunctionDecoder<'_> {
    /// Decodes a video instruction. Returns `None` if `name` is none.
    pub(super) fn video(
        &mut self,
        name: &str,
        modifiers: &[&str],
        operands: &[Operand],
    ) -> Option<Result<()>> {
        let (op, parts) = named(name)?;
        Some(self.video_form(op, parts, modifiers, operands))
    }

    fn video_form(&mut self, op: VideoOp, parts: u8, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let sets = op == VideoOp::Equal;
        let (mut types, mut second, mut relation) = (Vec::new(), VideoSecond::Merge, None);
        let mut form = VideoForm { op, parts, signed: [false; 3], saturate: false, wrap: false, second };
        for modifier in modifiers {
            match *modifier {
                "u32" => types.push(false),
                "s32" => types.push(true),
                "sat" if !sets => form.saturate = true,
                "clamp" => form.wrap = false,
                "wrap" => form.wrap = true,
                "add" => second = VideoSecond::Add,
                "min" if parts == 1 => second = VideoSecond::Minimum,
                "max" if parts == 1 => second = VideoSecond::Maximum,
                other if sets && comparison(other).is_some() => relation = comparison(other),
                other => return Err(format!("modifier '{}' is not known", quote(other))),
            }
        }
        form.second = second;
        form.signed = match types[..] {
            [a, b] if sets => [false, a, b],
            [d, a, b] if !sets => [d, a, b],
            _ => return Err(format!("it takes {} types, got {}", if sets { 2 } else { 3 }, types.len())),
        };
        form.op = if sets { relation.ok_or("its comparison is missing")? } else { op };
        let (d, a, b, c) = match operands {
            [d, a, b] if parts == 1 && second == VideoSecond::Merge => (d, a, b, None),
            [d, a, b, c] => (d, a, b, Some(c)),
            _ => return Err(format!("it takes 3 or 4 operands, got {}", operands.len())),
        };
        let [(d, to), (a, first), (b, other)] = [d, a, b].map(selected);
        self.instr.d = self.dest(&d, 32)?;
        self.instr.a = self.integer(&a, 32)?;
        self.instr.b = self.integer(&b, 32)?;
        if let Some(c) = c {
            self.instr.c = self.integer(c, 32)?;
        }
        let mut selectors = Selectors { sources: [[WHOLE; 4]; 2], result: WHOLE };
        if parts == 1 {
            let single = |selector: Option<&str>| selector.map_or(Ok(WHOLE), code);
            selectors.sources[0][0] = single(first)?;
            selectors.sources[1][0] = single(other)?;
            selectors.result = single(to)?;
            if to.is_some() && (c.is_none() || second != VideoSecond::Merge) {
                return Err("a part of a destination needs a third operand to merge with".to_owned());
            }
        } else {
            let kind = if parts == 2 { 'h' } else { 'b' };
            for (index, selector) in [first, other].into_iter().enumerate() {
                let all = match selector {
                    Some(selector) => digits(selector, kind, 2 * parts)?,
                    None => (0..parts).map(|part| part + parts * index as u8).collect(),
                };
                if all.len() != usize::from(parts) {
                    return Err(format!("a selector needs {parts} digits, got {}", all.len()));
                }
                selectors.sources[index][..usize::from(parts)].copy_from_slice(&all);
            }
            selectors.result = match to {
                Some(mask) => digits(mask, kind, parts)?.into_iter().fold(0, |mask, part| mask | 1 << part),
                None => (1 << parts) - 1,
            };
        }
        self.instr.offset = selectors.pack();
        self.plain(Op::Rare(Rare::Video(form)), OpClass::Int)
    }
}
