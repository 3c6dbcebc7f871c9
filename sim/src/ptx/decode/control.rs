//! Decodes branches, barriers and what the lanes of a warp exchange.

use super::super::ast::{Operand, ScopeId};
use super::super::error::quote;
use super::super::instr::{Op, OpClass, ShuffleMode, VoteMode};
use super::{Decoder, Result, exactly};

impl Decoder<'_> {
    pub(super) fn label(&self, name: &str, scope: ScopeId) -> Result<u32> {
        let mut scope = Some(scope);
        while let Some(here) = scope {
            if let Some(&place) = self.function.labels.get(&(here, name.to_owned())) {
                return Ok(place);
            }
            scope = self.function.scopes[here as usize].parent;
        }
        Err(format!("label '{}' is not defined", quote(name)))
    }

    pub(super) fn branch(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        if !matches!(modifiers, [] | ["uni"]) {
            return Err("only 'bra' and 'bra.uni' are known".to_owned());
        }
        let [Operand::Name(name, scope)] = exactly(operands)? else {
            return Err("its operand must be a label".to_owned());
        };
        self.instr.target = self.label(name, *scope)?;
        self.plain(Op::Branch, OpClass::Control)
    }

    pub(super) fn barrier(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let kinds: Vec<&str> =
            modifiers.iter().copied().filter(|m| !matches!(*m, "cta" | "aligned")).collect();
        let arrive = match kinds[..] {
            ["sync"] => false,
            ["arrive"] => true,
            // The lanes of a path run in lock-step, so they are together already.
            ["warp", "sync"] => return self.plain(Op::Nothing, OpClass::Control),
            _ => return Err("only 'sync' and 'arrive' are known".to_owned()),
        };
        let (id, threads) = match operands {
            [id] if !arrive => (id, None),
            [id, threads] => (id, Some(threads)),
            _ => {
                return Err(format!(
                    "it takes a barrier and a number of threads, got {} operands",
                    operands.len()
                ));
            }
        };
        self.instr.a = self.integer(id, 32)?;
        if let Some(threads) = threads {
            self.instr.b = self.integer(threads, 32)?;
        }
        self.plain(Op::Barrier { arrive }, OpClass::Barrier)
    }

    pub(super) fn shuffle(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let (sync, rest) = match modifiers {
            ["sync", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let mode = match rest {
            ["up", "b32"] => ShuffleMode::Up,
            ["down", "b32"] => ShuffleMode::Down,
            ["bfly", "b32"] => ShuffleMode::Butterfly,
            ["idx", "b32"] => ShuffleMode::Index,
            _ => return Err("its mode must be up, down, bfly or idx, its type b32".to_owned()),
        };
        let wanted = 4 + usize::from(sync);
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = match &operands[0] {
            Operand::Pair(value, found) => {
                self.instr.vector[0] = self.dest_register(*found, 1)?;
                self.dest_register(*value, 32)?
            }
            other => self.dest(other, 32)?,
        };
        self.instr.a = self.integer(&operands[1], 32)?;
        self.instr.b = self.integer(&operands[2], 32)?;
        self.instr.c = self.integer(&operands[3], 32)?;
        if sync {
            self.integer(&operands[4], 32)?;
        }
        self.plain(Op::Shuffle(mode), OpClass::Warp)
    }

    pub(super) fn vote(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let sync = modifiers.contains(&"sync");
        let kinds: Vec<&str> = modifiers.iter().copied().filter(|m| *m != "sync").collect();
        let mode = match kinds[..] {
            ["all", "pred"] => VoteMode::All,
            ["any", "pred"] => VoteMode::Any,
            ["uni", "pred"] => VoteMode::Uniform,
            ["ballot", "b32"] => VoteMode::Ballot,
            _ => return Err("it must be all, any or uni of pred, or ballot of b32".to_owned()),
        };
        let wanted = 2 + usize::from(sync);
        if operands.len() != wanted {
            return Err(format!("it takes {wanted} operands, got {}", operands.len()));
        }
        self.instr.d = self.dest(&operands[0], if mode == VoteMode::Ballot { 32 } else { 1 })?;
        let (source, negated) = self.predicate(&operands[1])?;
        self.instr.a = source;
        self.instr.offset = i64::from(negated);
        if sync {
            self.integer(&operands[2], 32)?;
        }
        self.plain(Op::Vote(mode), OpClass::Warp)
    }
}
