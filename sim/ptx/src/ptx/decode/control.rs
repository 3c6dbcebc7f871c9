//! Decodes branches, barriers and exchanges between the lanes of a warp.

use super::super::ast::{Operand, ScopeId};
use super::super::error::quote;
use super::super::forms::{AtomicOp, OpClass, ReduceMode, ShuffleMode, VoteMode};
use super::super::instr::{NONE, Op};
use super::super::signatures::{SIGNATURES, words};
use super::{FunctionDecoder, Result, exactly, types_last};

impl FunctionDecoder<'_> {
    /// Calls `find` for each scope from `scope` outwards. Returns the first result, with its scope.
    fn in_scopes<T>(&self, scope: ScopeId, find: impl Fn(ScopeId) -> Option<T>) -> Option<(ScopeId, T)> {
        let mut scope = Some(scope);
        while let Some(here) = scope {
            if let Some(found) = find(here) {
                return Some((here, found));
            }
            scope = self.function.scopes[here as usize].parent;
        }
        None
    }

    pub(super) fn label(&self, name: &str, scope: ScopeId) -> Result<u32> {
        let place = self.in_scopes(scope, |here| self.function.labels.get(&(here, name.to_owned())).copied());
        place.map(|(_, place)| place).ok_or_else(|| format!("label '{}' is not defined", quote(name)))
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
        if let ["cluster", kind, rest @ ..] = modifiers {
            exactly::<0>(operands)?;
            let is_known = |name: &&str| matches!(*name, "aligned" | "release" | "relaxed" | "acquire");
            let waits = match *kind {
                "arrive" => false,
                "wait" => true,
                _ => return Err("only 'arrive' and 'wait' are known of a cluster".to_owned()),
            };
            if let Some(other) = rest.iter().find(|name| !is_known(name)) {
                return Err(format!("modifier '{}' is not known", quote(other)));
            }
            return self.plain(Op::ClusterBarrier { waits }, OpClass::Barrier);
        }
        let kinds: Vec<&str> =
            modifiers.iter().copied().filter(|m| !matches!(*m, "cta" | "aligned")).collect();
        if let ["red", mode, of] = kinds[..] {
            return self.barrier_reduce(mode, of, operands);
        }
        let arrive = match kinds[..] {
            ["sync"] => false,
            ["arrive"] => true,
            ["warp", "sync"] => return self.plain(Op::Gather, OpClass::Control),
            _ => return Err("only 'sync', 'arrive' and 'red' are known".to_owned()),
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

    /// Decodes a call of a system function. The result, if any, and the arguments are in registers.
    pub(super) fn system(&mut self, name: &str, operands: &[Operand]) -> Result<()> {
        let signature =
            SIGNATURES.iter().find(|signature| signature.name == name).ok_or("it is not known")?;
        let mut operands = operands.iter();
        let mut next = || operands.next().ok_or("an operand is missing".to_owned());
        if let Some(bytes) = signature.result {
            self.instr.d = self.dest(next()?, bytes * 8)?;
        }
        let mut places = [NONE; 8];
        let parts = signature.parameters.iter().flat_map(|bytes| words(*bytes));
        for (place, (_, bytes)) in places.iter_mut().zip(parts) {
            *place = self.integer(next()?, bytes * 8)?;
        }
        [self.instr.a, self.instr.b, self.instr.c, ..] = places;
        self.instr.vector[..5].copy_from_slice(&places[3..]);
        self.plain(Op::System(signature.call), OpClass::System)
    }

    pub(super) fn match_values(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut modifiers = types_last(modifiers);
        modifiers.sort_by_key(|modifier| *modifier == "sync");
        let (all, wide) = match types_last(&modifiers)[..] {
            ["any", "sync", of @ ("b32" | "b64")] => (false, of == "b64"),
            ["all", "sync", of @ ("b32" | "b64")] => (true, of == "b64"),
            _ => return Err("it must be any.sync or all.sync of b32 or b64".to_owned()),
        };
        let [d, a, members] = exactly(operands)?;
        self.instr.d = match d {
            Operand::Pair(lanes, unanimous) if all => {
                self.instr.vector[0] = self.dest_register(*unanimous, 1)?;
                self.dest_register(*lanes, 32)?
            }
            other => self.dest(other, 32)?,
        };
        self.instr.a = self.integer(a, if wide { 64 } else { 32 })?;
        self.instr.c = self.integer(members, 32)?;
        self.plain(Op::Match { all, wide }, OpClass::Warp)
    }

    pub(super) fn reduce(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let mut modifiers = types_last(modifiers);
        modifiers.sort_by_key(|modifier| *modifier != "sync");
        let (op, signed) = match modifiers[..] {
            ["sync", "add", "u32" | "s32"] => (AtomicOp::Add, false),
            ["sync", "min", of @ ("u32" | "s32")] => (AtomicOp::Min, of == "s32"),
            ["sync", "max", of @ ("u32" | "s32")] => (AtomicOp::Max, of == "s32"),
            ["sync", "and", "b32"] => (AtomicOp::And, false),
            ["sync", "or", "b32"] => (AtomicOp::Or, false),
            ["sync", "xor", "b32"] => (AtomicOp::Xor, false),
            _ => return Err("it must be add, min or max of u32 or s32, or and, or, xor of b32".to_owned()),
        };
        let [d, a, members] = exactly(operands)?;
        self.instr.d = self.dest(d, 32)?;
        self.instr.a = self.integer(a, 32)?;
        self.instr.c = self.integer(members, 32)?;
        self.plain(Op::Reduce { op, signed }, OpClass::Warp)
    }

    /// `brx.idx`: an index and the label of a list of targets.
    pub(super) fn branch_indexed(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        if !matches!(modifiers, ["idx"] | ["idx", "uni"]) {
            return Err("only 'brx.idx' and 'brx.idx.uni' are known".to_owned());
        }
        let [index, Operand::Name(name, scope)] = exactly(operands)? else {
            return Err("its second operand must be the label of a '.branchtargets' list".to_owned());
        };
        let list = self.in_scopes(*scope, |here| self.function.target_lists.get(&(here, name.clone())));
        let (here, list) =
            list.ok_or_else(|| format!("there is no '.branchtargets' list '{}'", quote(name)))?;
        let targets = list.iter().map(|label| self.label(label, here)).collect::<Result<Vec<_>>>()?;
        self.instr.a = self.integer(index, 32)?;
        self.instr.target = self.body.branch_lists.len() as u32;
        self.body.branch_lists.push(targets);
        self.plain(Op::BranchIndexed, OpClass::Control)
    }

    fn barrier_reduce(&mut self, mode: &str, of: &str, operands: &[Operand]) -> Result<()> {
        let mode = match (mode, of) {
            ("and", "pred") => ReduceMode::All,
            ("or", "pred") => ReduceMode::Any,
            ("popc", "u32") => ReduceMode::Count,
            _ => return Err("it must be 'and' or 'or' of pred, or 'popc' of u32".to_owned()),
        };
        let (d, id, threads, value) = match operands {
            [d, id, value] => (d, id, None, value),
            [d, id, threads, value] => (d, id, Some(threads), value),
            _ => return Err(format!("it takes 3 or 4 operands, got {}", operands.len())),
        };
        self.instr.d = self.dest(d, if mode == ReduceMode::Count { 32 } else { 1 })?;
        self.instr.a = self.integer(id, 32)?;
        if let Some(threads) = threads {
            self.instr.b = self.integer(threads, 32)?;
        }
        let (value, negated) = self.predicate(value)?;
        self.instr.c = value;
        self.instr.offset = i64::from(negated);
        self.plain(Op::BarrierReduce(mode), OpClass::Barrier)
    }

    pub(super) fn shuffle(&mut self, modifiers: &[&str], operands: &[Operand]) -> Result<()> {
        let sync = modifiers.contains(&"sync");
        let mut rest = types_last(modifiers);
        rest.retain(|modifier| *modifier != "sync");
        let mode = match rest[..] {
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
        let mut kinds = types_last(modifiers);
        kinds.retain(|modifier| *modifier != "sync");
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
            self.instr.c = self.integer(&operands[2], 32)?;
        }
        self.plain(Op::Vote(mode), OpClass::Warp)
    }
}
