//! Decodes matrix products of warp groups: `wgmma`.

use super::super::ast::Operand;
use super::super::error::quote;
use super::super::forms::{OpClass, Sum, Variant, WarpGroupForm};
use super::super::instr::Op;
use super::in_flight::WorkInFlight;
use super::matrix::{factor, sum};
use super::memory::elements;
use super::{FunctionDecoder, Result, exactly};

impl FunctionDecoder<'_> {
    /// `wgmma`: products, groups and waits.
    pub(super) fn warp_group(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        match modifiers {
            // Registers have their values when an instruction issues, so that nothing is left to order.
            ["fence" | "commit_group", "sync", "aligned"] => {
                exactly::<0>(operands)?;
                self.plain(Op::Nothing, OpClass::Control)
            }
            ["wait_group", "sync", "aligned"] => {
                let [Operand::Integer(_)] = exactly(operands)? else {
                    return Err("it takes a number of groups".to_owned());
                };
                self.awaits(WorkInFlight::GroupProduct)
            }
            ["mma_async", "sync", "aligned", shape, to, a, b, rest @ ..] => {
                self.group_product(shape, [*to, *a, *b], rest, operands)
            }
            _ => {
                Err("known are mma_async, fence, commit_group and wait_group, with .sync.aligned".to_owned())
            }
        }
    }

    /// `wgmma.mma_async`: sums, two factors, a predicate, and the signs and directions of the factors.
    fn group_product(
        &mut self,
        shape: &str,
        [to, a, b]: [&str; 3],
        rest: &[&str],
        operands: &[Operand],
    ) -> Result<()> {
        let (to, a, b) = (sum(to)?, factor(a)?, factor(b)?);
        let variant = match rest {
            [] => Variant::Plain,
            ["satfinite"] if a.is_integer() => Variant::Finite,
            ["and", "popc"] => Variant::And,
            _ => return Err("its modifiers and types do not go together".to_owned()),
        };
        let [d, first, second, adds, rest @ ..] = operands else {
            return Err(format!("it takes at least 4 operands, got {}", operands.len()));
        };
        let shared_a = !matches!(first, Operand::Vector(_));
        let numbers: Vec<i64> = rest.iter().filter_map(number).collect();
        let sign = |place: usize| match numbers.get(place) {
            None | Some(1) => Ok(false),
            Some(-1) => Ok(true),
            Some(other) => Err(format!("the sign of a factor is 1 or -1, got {other}")),
        };
        let direction = |place: usize| match numbers.get(place) {
            None | Some(0) => Ok(true),
            Some(1) => Ok(false),
            Some(other) => Err(format!("the transposition of a factor is 0 or 1, got {other}")),
        };
        let form = WarpGroupForm {
            a,
            b,
            to,
            variant,
            blocks: columns(shape)?,
            shared_a,
            a_by_line: !shared_a || direction(2)?,
            b_by_line: direction(if shared_a { 3 } else { 2 })?,
            negate_a: sign(0)?,
            negate_b: sign(1)?,
        };
        let scalars = if a.is_integer() || variant == Variant::And {
            0
        } else if a.bits() == 16 {
            if shared_a { 4 } else { 3 }
        } else {
            2
        };
        if numbers.len() != rest.len() || rest.len() != scalars {
            return Err(format!("it takes {scalars} numbers after the predicate, got {}", rest.len()));
        }
        check(form, shape)?;
        let mut list = Vec::new();
        for element in elements(d, form.sums() as u8)? {
            let Operand::Register(id) = element else {
                return Err("its sums must be registers".to_owned());
            };
            let place = self.places[*id as usize];
            if place.width != 32 {
                return Err(format!("{} where 32 are needed", self.describe(*id)));
            }
            // The sums have no scoreboard numbers: successive products add to the same sums without a wait.
            list.push(place.index);
        }
        if shared_a {
            list.push(self.integer(first, 64)?);
        } else {
            for element in elements(first, form.part().registers()[1] as u8)? {
                list.push(self.integer(element, 32)?);
            }
        }
        list.push(self.integer(second, 64)?);
        let (adds, negated) = self.predicate(adds)?;
        if negated {
            return Err("its predicate must not be negated".to_owned());
        }
        list.push(adds);
        self.sources.sort_unstable();
        self.sources.dedup();
        self.instr.target = self.body.operand_lists.len() as u32;
        self.body.operand_lists.push(list.into());
        self.starts(WorkInFlight::GroupProduct);
        self.plain(Op::WarpGroup(form), form.class())
    }
}

fn number(operand: &Operand) -> Option<i64> {
    match operand {
        Operand::Integer(value) => Some(*value as i64),
        _ => None,
    }
}

/// Returns the columns of a shape, divided by eight.
fn columns(shape: &str) -> Result<u8> {
    let n = shape.strip_prefix("m64n").and_then(|rest| rest.split_once('k')?.0.parse::<u16>().ok());
    match n {
        Some(n) if n.is_multiple_of(8) && (8..=256).contains(&n) => Ok((n / 8) as u8),
        _ => Err(format!("shape '{}' does not have 64 rows and 8, 16, ... or 256 columns", quote(shape))),
    }
}

/// Checks that shape and types go together.
fn check(form: WarpGroupForm, shape: &str) -> Result<()> {
    let (a, b) = (form.a, form.b);
    let small = a.bits() == 8 && b.bits() == 8 && !a.is_integer() && !b.is_integer();
    let alike = a == b || small || a.bits() == 8 && b.bits() == 8 && a.is_integer() && b.is_integer();
    let sums_suit = match form.to {
        Sum::Half => small || a.is_half(),
        Sum::Single => !a.is_integer() && a.bits() > 1,
        Sum::Integer => a.is_integer() && a.bits() == 8 || form.variant == Variant::And,
        Sum::Double => false,
    };
    let is_bit = (a.bits() == 1) == (form.variant == Variant::And);
    let k = shape.rsplit('k').next().and_then(|k| k.parse().ok());
    if alike && sums_suit && is_bit && a.bits() <= 32 && k == Some(form.part().k()) {
        Ok(())
    } else {
        Err("its shape and types do not go together".to_owned())
    }
}
