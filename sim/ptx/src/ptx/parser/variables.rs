//! Parses declarations of variables and their initial values.

use super::super::ast::{Initial, PtxVariable, Type, VariableId, VariableSpace};
use super::super::error::quote;
use super::super::lexer::Token;
use super::{DeclaredType, MAX_VARIABLE_BYTES, NameMeaning, PtxParser, Result, variable_space};

impl<'a> PtxParser<'a> {
    /// Parses declarations: `.global .align 4 .b8 x[16] = {..}, y;`
    pub(super) fn variables(&mut self, external: bool) -> Result<()> {
        let line = self.line;
        let word = self.take_word("a state space")?;
        let space = match word {
            ".tex" => VariableSpace::Global,
            _ => variable_space(word)
                .ok_or_else(|| self.error_at(line, format!("'{word}' is not a state space")))?,
        };
        let mut declared = self.type_and_alignment()?;
        if word == ".tex" {
            // A texture reference holds a handle, regardless of its declared type.
            declared =
                DeclaredType { element: Type::Scalar { bytes: 8, float: false }, lanes: 1, alignment: 8 };
        }
        loop {
            let mut variable = self.declarator(space, declared, external)?;
            if self.accept('=')? {
                self.initialisers(&mut variable, declared.element)?;
            }
            self.declare_variable(variable)?;
            if !self.accept(',')? {
                return self.expect(';');
            }
        }
    }

    /// Parses the list of attributes after `.attribute`.
    fn managed_attribute(&mut self) -> Result<()> {
        self.expect('(')?;
        let line = self.line;
        let word = self.take_word("an attribute")?;
        if word != ".managed" {
            return Err(self.error_at(line, format!("attribute '{}': must be .managed", quote(word))));
        }
        self.expect(')')
    }

    pub(super) fn type_and_alignment(&mut self) -> Result<DeclaredType> {
        let (mut alignment, mut lanes) = (None, 1u8);
        loop {
            let line = self.line;
            let word = self.take_word("a type")?;
            match word {
                ".align" => {
                    let value = self.take_integer("the alignment")?;
                    if !value.is_power_of_two() || value > 4096 {
                        return Err(self
                            .error_at(line, format!("alignment {value} is not a power of two up to 4096")));
                    }
                    alignment = Some(value as u32);
                }
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                // Managed memory is global memory whose address the host knows.
                ".attribute" => self.managed_attribute()?,
                ".ptr" | ".global" | ".const" | ".shared" | ".local" => {}
                _ => {
                    let element = Type::named(word)
                        .ok_or_else(|| self.error_at(line, format!("'{}' is not a PTX type", quote(word))))?;
                    // `.param .u64 .ptr .global .align 4 x`: the alignment belongs to the pointee.
                    while let Some(".ptr" | ".global" | ".const" | ".shared" | ".local" | ".align") =
                        self.word()
                    {
                        let attribute = self.take_word("an attribute")?;
                        if attribute == ".align" {
                            self.take_integer("the alignment")?;
                        }
                    }
                    let natural = u32::from(element.bytes()) * u32::from(lanes);
                    return Ok(DeclaredType {
                        element,
                        lanes,
                        alignment: alignment.unwrap_or(natural).max(1),
                    });
                }
            }
        }
    }

    pub(super) fn declarator(
        &mut self,
        space: VariableSpace,
        declared: DeclaredType,
        external: bool,
    ) -> Result<PtxVariable> {
        let line = self.line;
        if declared.element == Type::Pred {
            return Err(self.error("a variable cannot have type '.pred'"));
        }
        let name = self.take_name("a variable's name")?.to_owned();
        let element_bytes = declared.element.bytes();
        let mut bytes = u64::from(element_bytes) * u64::from(declared.lanes);
        let mut open = false;
        while self.accept('[')? {
            if self.accept(']')? {
                open = true;
                continue;
            }
            let count = self.take_integer("the array's size")?;
            self.expect(']')?;
            bytes = bytes.checked_mul(count).filter(|&b| b <= MAX_VARIABLE_BYTES).ok_or_else(|| {
                self.error_at(
                    line,
                    format!("variable '{}' is larger than {MAX_VARIABLE_BYTES} bytes", quote(&name)),
                )
            })?;
        }
        if open && external {
            bytes = 0;
        }
        Ok(PtxVariable {
            name,
            space,
            alignment: declared.alignment,
            bytes,
            open: open && external,
            external,
            initial: Vec::new(),
            element: declared.element,
            element_bytes,
            line,
        })
    }

    pub(super) fn initialisers(&mut self, variable: &mut PtxVariable, element: Type) -> Result<()> {
        let mut depth = 0usize;
        let most = (MAX_VARIABLE_BYTES / u64::from(element.bytes())) as usize;
        loop {
            while self.accept('{')? {
                depth += 1;
            }
            if !self.at('}') {
                let value = self.initial_value(element)?;
                variable.initial.push(value);
            }
            while depth > 0 && self.accept('}')? {
                depth -= 1;
            }
            if depth == 0 {
                break;
            }
            self.expect(',')?;
            if variable.initial.len() > most {
                return Err(self.error("too many initial values"));
            }
        }
        let size = variable.initial.len() as u64 * u64::from(element.bytes());
        // The size of `x[] = {..}` is the size of its values.
        if variable.bytes < size && variable.bytes == u64::from(element.bytes()) {
            variable.bytes = size;
        }
        if size > variable.bytes {
            return Err(self.error_at(
                variable.line,
                format!(
                    "variable '{}' has {} bytes but {size} bytes of initial values",
                    variable.name, variable.bytes
                ),
            ));
        }
        Ok(())
    }

    pub(super) fn initial_value(&mut self, element: Type) -> Result<Initial> {
        let float = matches!(element, Type::Scalar { float: true, .. });
        let negative = matches!((self.token, float), (Token::Mark('-'), true)) && self.accept('-')?;
        let flip = |bits: f64| if negative { -bits } else { bits };
        let value = match self.token {
            Token::Single(bits) if element.bytes() == 8 => {
                Initial::Bits(flip(f64::from(f32::from_bits(bits))).to_bits())
            }
            Token::Single(bits) => Initial::Bits(u64::from(bits) ^ (u64::from(negative) << 31)),
            Token::Double(bits) if element.bytes() == 4 => {
                Initial::Bits(u64::from((flip(f64::from_bits(bits)) as f32).to_bits()))
            }
            Token::Double(bits) => Initial::Bits(flip(f64::from_bits(bits)).to_bits()),
            Token::Integer(value) if float && element.bytes() == 4 => {
                Initial::Bits(u64::from((flip(value as f64) as f32).to_bits()))
            }
            Token::Integer(value) if float => Initial::Bits(flip(value as f64).to_bits()),
            Token::Word(_) => return self.initial_address(),
            _ => {
                let value = self.constant(0)?;
                return Ok(Initial::Bits(value as u64));
            }
        };
        self.advance()?;
        Ok(value)
    }

    pub(super) fn initial_address(&mut self) -> Result<Initial> {
        let generic = self.word() == Some("generic");
        if generic {
            self.advance()?;
            self.expect('(')?;
        }
        let name = self.take_name("a variable's name")?.to_owned();
        if generic {
            self.expect(')')?;
        }
        let mut offset = 0;
        if self.at('+') || self.at('-') {
            let negative = self.at('-');
            self.advance()?;
            let value = self.take_integer("the offset")? as i64;
            offset = if negative { value.wrapping_neg() } else { value };
        }
        Ok(Initial::Address { name, offset, generic })
    }

    /// Checks addresses in initialisers after parsing, because they may name later declarations.
    pub(super) fn check_initial_addresses(&self) -> Result<()> {
        for variable in &self.ast.variables {
            for initial in &variable.initial {
                if let Initial::Address { name, .. } = initial
                    && !self.globals.contains_key(name)
                    && !self.function_names.contains_key(name)
                {
                    let message = format!(
                        "'{}' in the initial values of '{}' is not declared",
                        quote(name),
                        variable.name
                    );
                    return Err(self.error_at(variable.line, message));
                }
            }
        }
        Ok(())
    }

    pub(super) fn declare_variable(&mut self, variable: PtxVariable) -> Result<VariableId> {
        let id = self.ast.variables.len() as VariableId;
        let (name, line) = (variable.name.clone(), variable.line);
        self.ast.variables.push(variable);
        let is_static =
            matches!(self.ast.variables[id as usize].space, VariableSpace::Global | VariableSpace::Const);
        if let Some(function) = &mut self.function {
            (if is_static { &mut self.ast.statics } else { &mut function.locals }).push(id);
            self.declare(name, NameMeaning::Variable(id), line)?;
        } else if let Some(&earlier) = self.globals.get(&name) {
            // An `.extern` declaration may precede or follow the definition, and may be repeated.
            let (old, new) = (&self.ast.variables[earlier as usize], &self.ast.variables[id as usize]);
            if is_static && (old.external || new.external) {
                let is_first = old.external;
                let new = self.ast.variables.remove(id as usize);
                if is_first {
                    self.ast.variables[earlier as usize] = new;
                }
                return Ok(earlier);
            }
            if !(old.open || new.open) && old.bytes != 0 && old.line != line {
                return Err(self.error_at(line, format!("variable '{}' is declared twice", quote(&name))));
            }
            self.globals.insert(name, id);
            self.ast.globals.push(id);
        } else {
            self.globals.insert(name, id);
            self.ast.globals.push(id);
        }
        Ok(id)
    }

    pub(super) fn declare(&mut self, name: String, symbol: NameMeaning, line: u32) -> Result<()> {
        let Some(names) = self.names.last_mut() else { return Ok(()) };
        if names.symbols.contains_key(&name) {
            return Err(self.error_at(line, format!("'{}' is declared twice", quote(&name))));
        }
        names.symbols.insert(name, symbol);
        Ok(())
    }
}
