//! Parses instructions and their operands, and looks up the names in them.

use super::super::ast::{Operand, PtxRegister, RawInstruction, RegisterId};
use super::super::error::{PtxError, quote};
use super::super::lexer::Token;
use super::super::special;
use super::{MAX_OPERANDS, NameMeaning, PtxParser, Result, is_special};

/// Stands for the first register of `_|p`, whose width the instruction determines.
const UNUSED: RegisterId = RegisterId::MAX;

impl<'a> PtxParser<'a> {
    pub(super) fn instruction(&mut self) -> Result<()> {
        let (line, start) = (self.line, self.start);
        self.expect('@')?;
        let negated = self.accept('!')?;
        let name = self.take_name("a predicate register")?;
        let register = self.register(name)?.ok_or_else(|| self.undefined(line, name))?;
        let opcode = self.take_name("an instruction")?;
        self.instruction_after(Some((register, negated)), opcode, line, start)
    }

    pub(super) fn instruction_after(
        &mut self,
        guard: Option<(RegisterId, bool)>,
        opcode: &'a str,
        line: u32,
        start: usize,
    ) -> Result<()> {
        if !opcode.starts_with(|c: char| c.is_ascii_lowercase()) {
            return Err(self.error_at(line, format!("'{}' is not an instruction", quote(opcode))));
        }
        let mut operands = Vec::new();
        if !self.at(';') {
            loop {
                let operand = self.operand()?;
                let operand = match operand {
                    Operand::Register(id) if self.at('+') || self.at('-') => {
                        self.sum(id, guard, line, start)?
                    }
                    Operand::Pair(UNUSED, second) => {
                        let width = if opcode.starts_with("setp") { 1 } else { 32 };
                        let registers = &mut self.current().registers;
                        registers.push(PtxRegister { name: "_".to_owned(), width });
                        Operand::Pair(registers.len() as RegisterId - 1, second)
                    }
                    other => other,
                };
                operands.push(operand);
                if operands.len() > MAX_OPERANDS {
                    return Err(self.error_at(
                        line,
                        format!("'{}' has more than {MAX_OPERANDS} operands", quote(opcode)),
                    ));
                }
                if !self.accept(',')? {
                    break;
                }
            }
        }
        if !self.at(';') {
            return Err(self.expected("',' or ';'"));
        }
        let span = (start as u32, self.start as u32);
        self.advance()?;
        let rolled = std::mem::take(&mut self.rolled);
        let opcode = opcode.to_owned();
        self.current().code.push(RawInstruction { line, span, guard, opcode, rolled, operands });
        Ok(())
    }

    /// Parses the constant after a register. Their sum is computed before the instruction.
    fn sum(
        &mut self,
        id: RegisterId,
        guard: Option<(RegisterId, bool)>,
        line: u32,
        start: usize,
    ) -> Result<Operand> {
        let value = self.constant(0)?;
        let span = (start as u32, self.start as u32);
        let function = self.current();
        let register = function.registers[id as usize].clone();
        let (opcode, to) = (format!("add.s{}", register.width), function.registers.len() as RegisterId);
        let operands = vec![Operand::Register(to), Operand::Register(id), Operand::Integer(value)];
        function.registers.push(register);
        function.code.push(RawInstruction { line, span, guard, opcode, rolled: false, operands });
        Ok(Operand::Register(to))
    }

    pub(super) fn undefined(&self, line: u32, name: &str) -> PtxError {
        self.error_at(line, format!("register '{}' is not declared", quote(name)))
    }

    pub(super) fn operand(&mut self) -> Result<Operand> {
        match self.token {
            Token::Mark('[') => {
                self.advance()?;
                let operand = self.address()?;
                self.expect(']')?;
                Ok(operand)
            }
            Token::Mark('{') => Ok(Operand::Vector(self.operand_list('}')?)),
            Token::Mark('(') if self.is_argument_list() => Ok(Operand::Arguments(self.operand_list(')')?)),
            Token::Mark('!') => {
                self.advance()?;
                let line = self.line;
                let name = self.take_name("a predicate register")?;
                let register = self.register(name)?.ok_or_else(|| self.undefined(line, name))?;
                Ok(Operand::NegatedRegister(register))
            }
            Token::Word("_") => {
                self.advance()?;
                if !self.accept('|')? {
                    return Ok(Operand::Sink);
                }
                let name = self.take_name("a register")?;
                let second = self.register(name)?.ok_or_else(|| self.undefined(self.line, name))?;
                Ok(Operand::Pair(UNUSED, second))
            }
            _ => self.simple_operand(),
        }
    }

    /// Returns whether a parenthesis opens the arguments of a call, instead of a constant expression.
    pub(super) fn is_argument_list(&self) -> bool {
        let mut ahead = self.lexer.clone();
        !matches!(ahead.next(), Ok((Token::Integer(_) | Token::Mark('(' | '-' | '~' | '+'), ..)))
    }

    pub(super) fn operand_list(&mut self, close: char) -> Result<Vec<Operand>> {
        self.advance()?;
        let mut out = Vec::new();
        while !self.accept(close)? {
            out.push(self.simple_operand()?);
            if out.len() > MAX_OPERANDS {
                return Err(self.error(format!("more than {MAX_OPERANDS} operands in a list")));
            }
            if !self.accept(',')? && !self.at(close) {
                return Err(self.expected(&format!("',' or '{close}'")));
            }
        }
        Ok(out)
    }

    pub(super) fn address(&mut self) -> Result<Operand> {
        let base = self.simple_operand()?;
        // `[texture, {coordinates}]`
        if self.accept(',')? {
            let coordinates = match self.token {
                Token::Mark('{') => Operand::Vector(self.operand_list('}')?),
                _ => self.simple_operand()?,
            };
            return Ok(Operand::Vector(vec![base, coordinates]));
        }
        let (base, offset) = match base {
            Operand::Variable(id, offset) => (Operand::Variable(id, 0), offset),
            Operand::Integer(value) => (Operand::Integer(value), 0),
            other => (other, 0),
        };
        let mut total = offset;
        while self.at('+') || self.at('-') {
            let negative = self.at('-');
            if !negative {
                self.advance()?;
            }
            let value = self.constant(0)? as i64;
            total = total.wrapping_add(value);
        }
        Ok(Operand::Address(Box::new(base), total))
    }

    pub(super) fn simple_operand(&mut self) -> Result<Operand> {
        let line = self.line;
        match self.token {
            Token::Single(bits) => {
                self.advance()?;
                Ok(Operand::Single(bits))
            }
            Token::Double(bits) => {
                self.advance()?;
                Ok(Operand::Double(bits))
            }
            Token::Mark('-') => self.negative(),
            Token::Integer(_) | Token::Mark('+' | '~' | '(' | '!') => Ok(Operand::Integer(self.constant(0)?)),
            Token::Word("_") => {
                self.advance()?;
                Ok(Operand::Sink)
            }
            Token::Word(word) if !word.starts_with('.') => {
                self.advance()?;
                self.named_operand(word, line)
            }
            _ => Err(self.expected("an operand")),
        }
    }

    pub(super) fn negative(&mut self) -> Result<Operand> {
        let mut ahead = self.lexer.clone();
        match ahead.next() {
            Ok((Token::Double(bits), ..)) => {
                self.advance()?;
                self.advance()?;
                Ok(Operand::Double((-f64::from_bits(bits)).to_bits()))
            }
            Ok((Token::Single(bits), ..)) => {
                self.advance()?;
                self.advance()?;
                Ok(Operand::Single(bits ^ 0x8000_0000))
            }
            _ => Ok(Operand::Integer(self.constant(0)?)),
        }
    }

    pub(super) fn named_operand(&mut self, word: &'a str, line: u32) -> Result<Operand> {
        if word == "WARP_SZ" {
            return Ok(Operand::Integer(32));
        }
        let Some(symbol) = self.symbol(word)? else {
            if let Some((register, selector)) = word.rsplit_once('.')
                && selector.starts_with(['b', 'h'])
                && selector[1..].bytes().all(|digit| digit.is_ascii_digit())
                && let Some(NameMeaning::Register(id)) = self.symbol(register)?
            {
                return Ok(Operand::Part(id, selector.into()));
            }
            if word.starts_with('%') {
                return if is_special(word) {
                    if special::is_workspace(word) {
                        self.ast.need_grid_workspace(line);
                    }
                    Ok(Operand::Special(word.to_owned()))
                } else {
                    Err(self.undefined(line, word))
                };
            }
            let scope = self.names.last().map_or(0, |n| n.scope);
            return Ok(Operand::Name(word.to_owned(), scope));
        };
        match symbol {
            NameMeaning::Register(first) if self.at('|') => {
                self.advance()?;
                let line = self.line;
                let name = self.take_name("a register")?;
                let second = if name == "_" {
                    None
                } else {
                    Some(self.register(name)?.ok_or_else(|| self.undefined(line, name))?)
                };
                Ok(second.map_or(Operand::Register(first), |second| Operand::Pair(first, second)))
            }
            NameMeaning::Register(id) => Ok(Operand::Register(id)),
            NameMeaning::Vector { first, lanes } => {
                Ok(Operand::Vector((0..lanes.into()).map(|lane| Operand::Register(first + lane)).collect()))
            }
            NameMeaning::Variable(id) => {
                let mut offset = 0i64;
                // `mov.u64 %rd, x+8`; in brackets, the same loop reads the whole sum.
                while self.at('+') {
                    self.advance()?;
                    offset = offset.wrapping_add(self.constant(0)? as i64);
                }
                Ok(Operand::Variable(id, offset))
            }
        }
    }

    pub(super) fn register(&mut self, name: &str) -> Result<Option<RegisterId>> {
        Ok(match self.symbol(name)? {
            Some(NameMeaning::Register(id)) => Some(id),
            _ => None,
        })
    }

    /// Looks a name up from the innermost scope outwards. The first use of a register in a range declares it.
    pub(super) fn symbol(&mut self, name: &str) -> Result<Option<NameMeaning>> {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = name.split_at(name.len() - digits);
        let canonical = digits > 0 && (digits == 1 || !number.starts_with('0'));
        let number: Option<u64> = if canonical { number.parse().ok() } else { None };
        for level in (0..self.names.len()).rev() {
            if let Some(&symbol) = self.names[level].symbols.get(name) {
                return Ok(Some(symbol));
            }
            let Some((number, range)) = number.zip(self.names[level].ranges.get(prefix).copied()) else {
                continue;
            };
            if number < range.count {
                let symbol = self.new_registers(name, range.width, range.lanes);
                self.names[level].symbols.insert(name.to_owned(), symbol);
                return Ok(Some(symbol));
            }
        }
        if let Some(&id) = self.globals.get(name) {
            return Ok(Some(NameMeaning::Variable(id)));
        }
        self.element(name)
    }

    /// Looks up an element of a vector register, such as `v.x`.
    fn element(&mut self, name: &str) -> Result<Option<NameMeaning>> {
        let Some((vector, element)) = name.rsplit_once('.').filter(|(vector, _)| !vector.contains('.'))
        else {
            return Ok(None);
        };
        let Some(lane) = [["x", "r"], ["y", "g"], ["z", "b"], ["w", "a"]]
            .iter()
            .position(|names| names.contains(&element))
        else {
            return Ok(None);
        };
        Ok(match self.symbol(vector)? {
            Some(NameMeaning::Vector { first, lanes }) if lane < usize::from(lanes) => {
                Some(NameMeaning::Register(first + lane as RegisterId))
            }
            _ => None,
        })
    }
}
