//! Parses functions: parameters, directives, registers, labels and scopes.

use std::collections::HashMap;

use super::super::ast::{
    Function, FunctionParameter, NameScope, PtxRegister, RegisterId, ScopeId, VariableSpace,
};
use super::super::error::{PtxError, quote};
use super::super::lexer::Token;
use super::{
    BraceNames, MAX_DEPTH, NameMeaning, ParserPosition, PtxParser, RegisterRange, Result, register_width,
    variable_space,
};

impl<'a> PtxParser<'a> {
    pub(super) fn function(&mut self) -> Result<()> {
        let line = self.line;
        let entry = self.take_word("'.entry' or '.func'")? == ".entry";
        self.function = Some(Function {
            name: String::new(),
            line,
            entry,
            defined: false,
            error: None,
            parameters: Vec::new(),
            returns: Vec::new(),
            registers: Vec::new(),
            scopes: vec![NameScope::default()],
            labels: HashMap::new(),
            target_lists: HashMap::new(),
            code: Vec::new(),
            bodies: Vec::new(),
            locals: Vec::new(),
            cta_limit: None,
            cluster: None,
            register_limit: None,
            least_ctas: None,
        });
        self.names = vec![BraceNames::default()];
        if !entry && self.at('(') {
            let returns = self.parameters()?;
            self.current().returns = returns;
        }
        let name = self.take_name("a function's name")?.to_owned();
        self.current().name.clone_from(&name);
        let after_name = self.place();
        if let Err(error) = self.rest_of_function(line) {
            self.skip_function(after_name, &error)?;
        }
        self.finish_function(name, line)
    }

    /// Parses a function from the token after its name.
    fn rest_of_function(&mut self, line: u32) -> Result<()> {
        if self.at('(') {
            let parameters = self.parameters()?;
            self.current().parameters = parameters;
        }
        self.performance_directives()?;
        if !self.accept(';')? {
            self.body(line)?;
        }
        Ok(())
    }

    /// Stores the error of an unreadable function, for its callers and launches, and continues after the function.
    ///
    /// # Errors
    /// Returns `error` if the end of the function is missing.
    fn skip_function(&mut self, after_name: ParserPosition<'a>, error: &PtxError) -> Result<()> {
        self.go_back(after_name);
        self.rolled = false;
        loop {
            match self.token {
                Token::Mark('{') => {
                    self.lexer.go_back(self.start, self.line);
                    if !self.lexer.skip_block() {
                        return Err(error.clone());
                    }
                    self.current().defined = true;
                    break self.advance()?;
                }
                Token::Mark(';') => break self.advance()?,
                // The `;` of a pragma does not end the function.
                Token::Word(".pragma") => self.skip_statement()?,
                Token::End => return Err(error.clone()),
                _ => self.advance()?,
            }
        }
        self.current().error = Some((error.line, error.message.clone()));
        Ok(())
    }

    pub(super) fn current(&mut self) -> &mut Function {
        self.function.as_mut().expect("only called while a function is being parsed")
    }

    pub(super) fn finish_function(&mut self, name: String, line: u32) -> Result<()> {
        let function = self.function.take().expect("only called while a function is being parsed");
        self.names.clear();
        match self.function_names.get(&name) {
            Some(&index) if self.ast.functions[index].defined && function.defined => {
                Err(self.error_at(line, format!("function '{}' is defined twice", quote(&name))))
            }
            Some(&index) => {
                if function.defined {
                    self.ast.functions[index] = function;
                }
                Ok(())
            }
            None => {
                self.function_names.insert(name, self.ast.functions.len());
                self.ast.functions.push(function);
                Ok(())
            }
        }
    }

    pub(super) fn parameters(&mut self) -> Result<Vec<FunctionParameter>> {
        self.expect('(')?;
        let mut out = Vec::new();
        while !self.accept(')')? {
            let line = self.line;
            match self.take_word("'.param' or '.reg'")? {
                ".param" => {
                    let declared = self.type_and_alignment()?;
                    let variable = self.declarator(VariableSpace::Param, declared, false)?;
                    out.push(FunctionParameter::Memory(self.declare_variable(variable)?));
                }
                ".reg" => {
                    let declared = self.type_and_alignment()?;
                    let name = self.take_name("a register's name")?.to_owned();
                    let symbol = self.new_registers(&name, register_width(declared.element), declared.lanes);
                    self.declare(name, symbol, line)?;
                    let (first, count) = match symbol {
                        NameMeaning::Vector { first, lanes } => (first, lanes.into()),
                        NameMeaning::Register(first) => (first, 1),
                        NameMeaning::Variable(_) => continue,
                    };
                    out.extend((first..first + count).map(FunctionParameter::Register));
                }
                other => {
                    return Err(
                        self.error_at(line, format!("expected '.param' or '.reg', found '{}'", quote(other)))
                    );
                }
            }
            if !self.accept(',')? && !self.at(')') {
                return Err(self.expected("',' or ')'"));
            }
        }
        Ok(out)
    }

    pub(super) fn performance_directives(&mut self) -> Result<()> {
        while let Some(directive) = self.word() {
            let line = self.line;
            match directive {
                ".maxntid" | ".reqntid" | ".reqnctapercluster" => {
                    self.advance()?;
                    let mut limit = [1; 3];
                    for (axis, value) in limit.iter_mut().enumerate() {
                        if axis > 0 && !self.accept(',')? {
                            break;
                        }
                        *value = self.take_integer("the limit")?.min(u64::from(u32::MAX)) as u32;
                    }
                    match directive {
                        ".reqnctapercluster" => self.current().cluster = Some(limit),
                        _ => self.current().cta_limit = Some((limit, directive == ".reqntid")),
                    }
                }
                ".maxnreg" | ".minnctapersm" | ".maxnctapersm" | ".maxclusterrank" => {
                    self.advance()?;
                    let limit = Some(self.take_integer("the limit")?.clamp(1, u64::from(u32::MAX)) as u32);
                    match directive {
                        ".maxnreg" => self.current().register_limit = limit,
                        // `.maxnctapersm` is the older name of `.minnctapersm`.
                        ".minnctapersm" | ".maxnctapersm" => self.current().least_ctas = limit,
                        _ => {}
                    }
                }
                ".noreturn" | ".explicitcluster" => self.advance()?,
                ".pragma" => self.skip_statement()?,
                _ => {
                    return Err(self
                        .error_at(line, format!("'{}' is not a directive of a function", quote(directive))));
                }
            }
        }
        Ok(())
    }

    pub(super) fn body(&mut self, line: u32) -> Result<()> {
        self.expect('{')?;
        self.current().defined = true;
        let depth_outside = self.names.len();
        self.open_scope()?;
        while self.names.len() > depth_outside {
            match self.token {
                Token::End => {
                    let name = quote(&self.current().name);
                    return Err(self.error_at(
                        line,
                        format!("the file ends inside function '{name}', which lacks a '}}'"),
                    ));
                }
                Token::Mark('{') => {
                    self.advance()?;
                    self.open_scope()?;
                }
                Token::Mark('}') => {
                    self.advance()?;
                    self.names.pop();
                }
                Token::Mark(';') => self.advance()?,
                Token::Mark('@') => self.instruction()?,
                Token::Word(word) if word.starts_with('.') => self.body_directive(word)?,
                Token::Word(word) => self.label_or_instruction(word)?,
                _ => return Err(self.expected("an instruction, a label or a directive")),
            }
        }
        Ok(())
    }

    pub(super) fn open_scope(&mut self) -> Result<()> {
        if self.names.len() > MAX_DEPTH {
            return Err(self.error(format!("braces are nested more than {MAX_DEPTH} deep")));
        }
        let parent = self.names.last().map(|n| n.scope);
        let scopes = &mut self.current().scopes;
        let scope = scopes.len() as ScopeId;
        scopes.push(NameScope { parent });
        self.names.push(BraceNames { scope, ..BraceNames::default() });
        Ok(())
    }

    pub(super) fn body_directive(&mut self, word: &'a str) -> Result<()> {
        match word {
            ".reg" => {
                self.advance()?;
                self.registers()
            }
            ".loc" | ".file" => self.skip_line(),
            ".section" => self.skip_section(),
            ".pragma" => {
                self.advance()?;
                self.rolled |= self.token == Token::Text("nounroll");
                self.skip_statement()
            }
            ".branchtargets" | ".calltargets" | ".callprototype" => self.skip_statement(),
            ".extern" | ".visible" => {
                self.advance()?;
                self.variables(word == ".extern")
            }
            _ if variable_space(word).is_some() => self.variables(false),
            _ => Err(self.error(format!("unknown directive '{}'", quote(word)))),
        }
    }

    pub(super) fn registers(&mut self) -> Result<()> {
        let declared = self.type_and_alignment()?;
        loop {
            let line = self.line;
            let name = self.take_name("a register's name")?.to_owned();
            if self.accept('<')? {
                let count = self.take_integer("the number of registers")?;
                self.expect('>')?;
                let (width, lanes) = (register_width(declared.element), declared.lanes);
                let range = RegisterRange { width, lanes, count };
                let names = self.names.last_mut().expect("a function has a scope");
                if names.ranges.insert(name.clone(), range).is_some() {
                    return Err(
                        self.error_at(line, format!("registers '{}<..>' are declared twice", quote(&name)))
                    );
                }
            } else {
                let symbol = self.new_registers(&name, register_width(declared.element), declared.lanes);
                self.declare(name, symbol, line)?;
            }
            if !self.accept(',')? {
                return self.expect(';');
            }
        }
    }

    /// Declares the registers of a name: one, or one per element of a vector.
    pub(super) fn new_registers(&mut self, name: &str, width: u8, lanes: u8) -> NameMeaning {
        let registers = &mut self.current().registers;
        let first = registers.len() as RegisterId;
        if lanes == 1 {
            registers.push(PtxRegister { name: name.to_owned(), width });
            return NameMeaning::Register(first);
        }
        let elements = ["x", "y", "z", "w"].into_iter().take(lanes.into());
        registers.extend(elements.map(|element| PtxRegister { name: format!("{name}.{element}"), width }));
        NameMeaning::Vector { first, lanes }
    }

    pub(super) fn label_or_instruction(&mut self, word: &'a str) -> Result<()> {
        let (line, start) = (self.line, self.start);
        self.advance()?;
        if !self.accept(':')? {
            return self.instruction_after(None, word, line, start);
        }
        match self.word() {
            Some(".branchtargets") => return self.branch_targets(word),
            Some(".calltargets" | ".callprototype") => return self.skip_statement(),
            _ => {}
        }
        let scope = self.names.last().expect("a function has a scope").scope;
        let function = self.current();
        let place = function.code.len() as u32;
        if function.labels.insert((scope, word.to_owned()), place).is_some() {
            return Err(self.error_at(line, format!("label '{}' is defined twice", quote(word))));
        }
        Ok(())
    }

    /// Parses `.branchtargets A, B;` after its label.
    fn branch_targets(&mut self, label: &str) -> Result<()> {
        self.advance()?;
        let mut targets = Vec::new();
        loop {
            targets.push(self.take_name("a label")?.to_owned());
            if !self.accept(',')? {
                break;
            }
        }
        self.expect(';')?;
        let scope = self.names.last().expect("a function has a scope").scope;
        self.current().target_lists.insert((scope, label.to_owned()), targets);
        Ok(())
    }
}
