//! Parses PTX text (ISA 2.3 to 8.x) into an [`Ast`].
//!
//! Names are resolved while parsing, because PTX declares before use; only labels and functions are looked up later.
//! Nothing recurses with the input except constant expressions, whose depth is limited.

use std::collections::HashMap;

use super::ast::{
    Ast, Function, FunctionParameter, Initial, Operand, RawInstruction, Register, RegisterId, Scope, ScopeId,
    Type, Variable, VariableId, VariableSpace,
};
use super::error::{PtxError, quote};
use super::lexer::{Lexer, Token};

/// Deepest nesting of braces in a function, and of parentheses in a constant expression.
const MAX_DEPTH: usize = 200;
/// Largest variable, in bytes.
const MAX_VARIABLE_BYTES: u64 = 1 << 30;
/// Longest list of operands of one instruction.
const MAX_OPERANDS: usize = 256;

type Result<T> = std::result::Result<T, PtxError>;

/// What a declared name stands for.
#[derive(Debug, Clone, Copy)]
enum Symbol {
    Register(RegisterId),
    Variable(VariableId),
}

/// `.reg .b32 %r<100>`: registers that get a number when they are first used.
#[derive(Debug, Clone, Copy)]
struct RegisterRange {
    width: u8,
    count: u64,
}

/// Names of one pair of braces.
#[derive(Debug, Default)]
struct Names {
    scope: ScopeId,
    symbols: HashMap<String, Symbol>,
    ranges: HashMap<String, RegisterRange>,
}

pub(crate) struct Parser<'a> {
    file: &'a str,
    lexer: Lexer<'a>,
    token: Token<'a>,
    line: u32,
    start: usize,
    /// Where the token before this one ended.
    previous_end: usize,
    ast: Ast,
    globals: HashMap<String, VariableId>,
    function_names: HashMap<String, usize>,
    /// The function being parsed and its open scopes.
    function: Option<Function>,
    names: Vec<Names>,
}

/// Parses the whole text.
pub(crate) fn parse(file: &str, text: &str) -> Result<Ast> {
    let mut parser = Parser {
        file,
        lexer: Lexer::new(text),
        token: Token::End,
        line: 1,
        start: 0,
        previous_end: 0,
        ast: Ast { address_bits: 32, ..Ast::default() },
        globals: HashMap::new(),
        function_names: HashMap::new(),
        function: None,
        names: Vec::new(),
    };
    if u32::try_from(text.len()).is_err() {
        return Err(parser.error(format!(
            "the file has {} bytes; at most {} are allowed",
            text.len(),
            u32::MAX
        )));
    }
    parser.advance()?;
    parser.module()?;
    Ok(parser.ast)
}

impl<'a> Parser<'a> {
    fn error(&self, message: impl Into<String>) -> PtxError {
        self.error_at(self.line, message)
    }

    fn error_at(&self, line: u32, message: impl Into<String>) -> PtxError {
        PtxError { file: self.file.to_owned(), line, message: message.into() }
    }

    fn expected(&self, what: &str) -> PtxError {
        self.error(format!("expected {what}, found {}", self.token))
    }

    fn advance(&mut self) -> Result<()> {
        self.previous_end = self.lexer.position();
        let (token, line, start) =
            self.lexer.next().map_err(|(line, message)| self.error_at(line, message))?;
        (self.token, self.line, self.start) = (token, line, start);
        Ok(())
    }

    fn at(&self, mark: char) -> bool {
        self.token == Token::Mark(mark)
    }

    fn accept(&mut self, mark: char) -> Result<bool> {
        let found = self.at(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, mark: char) -> Result<()> {
        if self.accept(mark)? { Ok(()) } else { Err(self.expected(&format!("'{mark}'"))) }
    }

    fn word(&self) -> Option<&'a str> {
        match self.token {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    fn take_word(&mut self, what: &str) -> Result<&'a str> {
        let word = self.word().ok_or_else(|| self.expected(what))?;
        self.advance()?;
        Ok(word)
    }

    fn take_name(&mut self, what: &str) -> Result<&'a str> {
        match self.word() {
            Some(word) if !word.starts_with('.') && !word.starts_with(|c: char| c.is_ascii_digit()) => {
                self.advance()?;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn take_integer(&mut self, what: &str) -> Result<u64> {
        let value = self.constant(0)?;
        u64::try_from(value).map_err(|_| self.error(format!("{what} is {value}; it must be 0 or more")))
    }

    // ---- module level ----

    fn module(&mut self) -> Result<()> {
        let mut has_version = false;
        loop {
            match self.token {
                Token::End if has_version => return self.check_initial_addresses(),
                Token::End => {
                    return Err(self.error("the file has no '.version' directive, so it is not PTX"));
                }
                Token::Mark(';') => self.advance()?,
                Token::Word(".version") => {
                    has_version = true;
                    self.advance()?;
                    self.version()?;
                }
                _ if !has_version => return Err(self.expected("'.version', which starts a PTX file")),
                Token::Word(directive) => self.module_directive(directive)?,
                _ => return Err(self.expected("a directive")),
            }
        }
    }

    fn version(&mut self) -> Result<()> {
        match self.token {
            Token::Double(bits) if (1.0..10.0).contains(&f64::from_bits(bits)) => self.advance(),
            _ => Err(self.expected("a PTX version from 1.0 to 9.x")),
        }
    }

    fn module_directive(&mut self, directive: &'a str) -> Result<()> {
        match directive {
            ".target" => {
                self.advance()?;
                self.take_word("a target such as sm_60")?;
                while self.accept(',')? {
                    self.take_word("a target option")?;
                }
                Ok(())
            }
            ".address_size" => {
                self.advance()?;
                match self.take_integer("the address size")? {
                    bits @ (32 | 64) => self.ast.address_bits = bits as u8,
                    other => return Err(self.error(format!("address size {other} is not 32 or 64"))),
                }
                Ok(())
            }
            ".file" | ".loc" => self.skip_line(),
            ".section" => self.skip_section(),
            ".pragma" | ".alias" => self.skip_statement(),
            ".visible" | ".weak" | ".common" | ".extern" => {
                self.advance()?;
                self.linked_declaration(directive == ".extern")
            }
            _ => self.linked_declaration(false),
        }
    }

    fn linked_declaration(&mut self, external: bool) -> Result<()> {
        match self.word() {
            Some(".entry" | ".func") => self.function(),
            Some(word) if variable_space(word).is_some() || matches!(word, ".tex" | ".visible" | ".weak") => {
                self.variables(external)
            }
            _ => Err(self.expected("a variable, '.entry' or '.func'")),
        }
    }

    /// Skips what a debug directive has on its line; it has no other end.
    fn skip_line(&mut self) -> Result<()> {
        let line = self.line;
        while self.line == line && self.token != Token::End {
            self.advance()?;
        }
        Ok(())
    }

    fn skip_statement(&mut self) -> Result<()> {
        let line = self.line;
        while !self.at(';') {
            if self.token == Token::End {
                return Err(self.error_at(line, "the directive has no ';'"));
            }
            self.advance()?;
        }
        self.advance()
    }

    fn skip_section(&mut self) -> Result<()> {
        let line = self.line;
        while !self.at('{') {
            if self.token == Token::End {
                return Err(self.error_at(line, "'.section' has no '{'"));
            }
            self.advance()?;
        }
        while !self.at('}') {
            if self.token == Token::End {
                return Err(self.error_at(line, "'.section' has no '}'"));
            }
            self.advance()?;
        }
        self.advance()
    }

    // ---- variables ----

    /// `.global .align 4 .b8 x[16] = {..}, y;`
    fn variables(&mut self, external: bool) -> Result<()> {
        let line = self.line;
        let word = self.take_word("a state space")?;
        let space = match word {
            ".tex" => VariableSpace::Global,
            _ => variable_space(word)
                .ok_or_else(|| self.error_at(line, format!("'{word}' is not a state space")))?,
        };
        let declared = self.type_and_alignment()?;
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

    fn type_and_alignment(&mut self) -> Result<DeclaredType> {
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
                ".ptr" | ".global" | ".const" | ".shared" | ".local" => {}
                _ => {
                    let element = Type::named(word)
                        .ok_or_else(|| self.error_at(line, format!("'{}' is not a PTX type", quote(word))))?;
                    // `.param .u64 .ptr .global .align 4 x`: the alignment is the pointee's.
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

    fn declarator(
        &mut self,
        space: VariableSpace,
        declared: DeclaredType,
        external: bool,
    ) -> Result<Variable> {
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
        Ok(Variable {
            name,
            space,
            alignment: declared.alignment,
            bytes,
            open: open && external,
            initial: Vec::new(),
            element: declared.element,
            element_bytes,
            line,
        })
    }

    fn initialisers(&mut self, variable: &mut Variable, element: Type) -> Result<()> {
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
        // `x[] = {..}`: as large as its values.
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

    fn initial_value(&mut self, element: Type) -> Result<Initial> {
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

    fn initial_address(&mut self) -> Result<Initial> {
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

    /// Addresses in initialisers may name what is declared later, so they are looked up at the end.
    fn check_initial_addresses(&self) -> Result<()> {
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

    fn declare_variable(&mut self, variable: Variable) -> Result<VariableId> {
        let id = self.ast.variables.len() as VariableId;
        let (name, line) = (variable.name.clone(), variable.line);
        self.ast.variables.push(variable);
        if let Some(function) = &mut self.function {
            function.locals.push(id);
            self.declare(name, Symbol::Variable(id), line)?;
        } else if let Some(&earlier) = self.globals.get(&name) {
            // An `.extern` declaration may come before or after the definition, and repeatedly.
            let (old, new) = (&self.ast.variables[earlier as usize], &self.ast.variables[id as usize]);
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

    fn declare(&mut self, name: String, symbol: Symbol, line: u32) -> Result<()> {
        let Some(names) = self.names.last_mut() else { return Ok(()) };
        if names.symbols.contains_key(&name) {
            return Err(self.error_at(line, format!("'{}' is declared twice", quote(&name))));
        }
        names.symbols.insert(name, symbol);
        Ok(())
    }

    // ---- functions ----

    fn function(&mut self) -> Result<()> {
        let line = self.line;
        let entry = self.take_word("'.entry' or '.func'")? == ".entry";
        self.function = Some(Function {
            name: String::new(),
            line,
            entry,
            defined: false,
            parameters: Vec::new(),
            returns: Vec::new(),
            registers: Vec::new(),
            scopes: vec![Scope::default()],
            labels: HashMap::new(),
            code: Vec::new(),
            locals: Vec::new(),
            cta_limit: None,
        });
        self.names = vec![Names::default()];
        if !entry && self.at('(') {
            let returns = self.parameters()?;
            self.current().returns = returns;
        }
        let name = self.take_name("a function's name")?.to_owned();
        self.current().name.clone_from(&name);
        if self.at('(') {
            let parameters = self.parameters()?;
            self.current().parameters = parameters;
        }
        self.performance_directives()?;
        if !self.accept(';')? {
            self.body(line)?;
        }
        self.finish_function(name, line)
    }

    fn current(&mut self) -> &mut Function {
        self.function.as_mut().expect("only called while a function is being parsed")
    }

    fn finish_function(&mut self, name: String, line: u32) -> Result<()> {
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

    fn parameters(&mut self) -> Result<Vec<FunctionParameter>> {
        self.expect('(')?;
        let mut out = Vec::new();
        while !self.accept(')')? {
            let line = self.line;
            let parameter = match self.take_word("'.param' or '.reg'")? {
                ".param" => {
                    let declared = self.type_and_alignment()?;
                    let variable = self.declarator(VariableSpace::Param, declared, false)?;
                    FunctionParameter::Memory(self.declare_variable(variable)?)
                }
                ".reg" => {
                    let declared = self.type_and_alignment()?;
                    let name = self.take_name("a register's name")?.to_owned();
                    FunctionParameter::Register(self.declare_register(name, declared.element, line)?)
                }
                other => {
                    return Err(
                        self.error_at(line, format!("expected '.param' or '.reg', found '{}'", quote(other)))
                    );
                }
            };
            out.push(parameter);
            if !self.accept(',')? && !self.at(')') {
                return Err(self.expected("',' or ')'"));
            }
        }
        Ok(out)
    }

    fn performance_directives(&mut self) -> Result<()> {
        while let Some(directive) = self.word() {
            let line = self.line;
            match directive {
                ".maxntid" | ".reqntid" => {
                    self.advance()?;
                    let mut limit = [1; 3];
                    for (axis, value) in limit.iter_mut().enumerate() {
                        if axis > 0 && !self.accept(',')? {
                            break;
                        }
                        *value = self.take_integer("the limit")?.min(u64::from(u32::MAX)) as u32;
                    }
                    self.current().cta_limit = Some((limit, directive == ".reqntid"));
                }
                ".maxnreg" | ".minnctapersm" | ".maxnctapersm" | ".maxclusterrank" => {
                    self.advance()?;
                    self.take_integer("the limit")?;
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

    fn body(&mut self, line: u32) -> Result<()> {
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

    fn open_scope(&mut self) -> Result<()> {
        if self.names.len() > MAX_DEPTH {
            return Err(self.error(format!("braces are nested more than {MAX_DEPTH} deep")));
        }
        let parent = self.names.last().map(|n| n.scope);
        let scopes = &mut self.current().scopes;
        let scope = scopes.len() as ScopeId;
        scopes.push(Scope { parent });
        self.names.push(Names { scope, ..Names::default() });
        Ok(())
    }

    fn body_directive(&mut self, word: &'a str) -> Result<()> {
        match word {
            ".reg" => {
                self.advance()?;
                self.registers()
            }
            ".loc" | ".file" => self.skip_line(),
            ".section" => self.skip_section(),
            ".pragma" | ".branchtargets" | ".calltargets" | ".callprototype" => self.skip_statement(),
            ".extern" | ".visible" => {
                self.advance()?;
                self.variables(word == ".extern")
            }
            _ if variable_space(word).is_some() => self.variables(false),
            _ => Err(self.error(format!("unknown directive '{}'", quote(word)))),
        }
    }

    fn registers(&mut self) -> Result<()> {
        let declared = self.type_and_alignment()?;
        if declared.lanes != 1 {
            return Err(self.error("vector registers are not supported; declare scalar registers"));
        }
        loop {
            let line = self.line;
            let name = self.take_name("a register's name")?.to_owned();
            if self.accept('<')? {
                let count = self.take_integer("the number of registers")?;
                self.expect('>')?;
                let range = RegisterRange { width: register_width(declared.element), count };
                let names = self.names.last_mut().expect("a function has a scope");
                if names.ranges.insert(name.clone(), range).is_some() {
                    return Err(
                        self.error_at(line, format!("registers '{}<..>' are declared twice", quote(&name)))
                    );
                }
            } else {
                self.declare_register(name, declared.element, line)?;
            }
            if !self.accept(',')? {
                return self.expect(';');
            }
        }
    }

    fn declare_register(&mut self, name: String, element: Type, line: u32) -> Result<RegisterId> {
        let registers = &mut self.current().registers;
        let id = registers.len() as RegisterId;
        registers.push(Register { name: name.clone(), width: register_width(element) });
        self.declare(name, Symbol::Register(id), line)?;
        Ok(id)
    }

    fn label_or_instruction(&mut self, word: &'a str) -> Result<()> {
        let (line, start) = (self.line, self.start);
        self.advance()?;
        if !self.accept(':')? {
            return self.instruction_after(None, word, line, start);
        }
        if let Some(".branchtargets" | ".calltargets" | ".callprototype") = self.word() {
            return self.skip_statement();
        }
        let scope = self.names.last().expect("a function has a scope").scope;
        let function = self.current();
        let place = function.code.len() as u32;
        if function.labels.insert((scope, word.to_owned()), place).is_some() {
            return Err(self.error_at(line, format!("label '{}' is defined twice", quote(word))));
        }
        Ok(())
    }

    // ---- instructions ----

    fn instruction(&mut self) -> Result<()> {
        let (line, start) = (self.line, self.start);
        self.expect('@')?;
        let negated = self.accept('!')?;
        let name = self.take_name("a predicate register")?;
        let register = self.register(name)?.ok_or_else(|| self.undefined(line, name))?;
        let opcode = self.take_name("an instruction")?;
        self.instruction_after(Some((register, negated)), opcode, line, start)
    }

    fn instruction_after(
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
                operands.push(self.operand()?);
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
        self.current().code.push(RawInstruction { line, span, guard, opcode: opcode.to_owned(), operands });
        Ok(())
    }

    fn undefined(&self, line: u32, name: &str) -> PtxError {
        self.error_at(line, format!("register '{}' is not declared", quote(name)))
    }

    fn operand(&mut self) -> Result<Operand> {
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
            _ => self.simple_operand(),
        }
    }

    /// Whether a parenthesis opens arguments of a call, rather than a constant expression.
    fn is_argument_list(&self) -> bool {
        let mut ahead = self.lexer.clone();
        !matches!(ahead.next(), Ok((Token::Integer(_) | Token::Mark('(' | '-' | '~' | '+'), ..)))
    }

    fn operand_list(&mut self, close: char) -> Result<Vec<Operand>> {
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

    fn address(&mut self) -> Result<Operand> {
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

    fn simple_operand(&mut self) -> Result<Operand> {
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

    fn negative(&mut self) -> Result<Operand> {
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

    fn named_operand(&mut self, word: &'a str, line: u32) -> Result<Operand> {
        if word == "WARP_SZ" {
            return Ok(Operand::Integer(32));
        }
        let Some(symbol) = self.symbol(word)? else {
            if word.starts_with('%') {
                return if is_special(word) {
                    Ok(Operand::Special(word.to_owned()))
                } else {
                    Err(self.undefined(line, word))
                };
            }
            let scope = self.names.last().map_or(0, |n| n.scope);
            return Ok(Operand::Name(word.to_owned(), scope));
        };
        match symbol {
            Symbol::Register(first) if self.at('|') => {
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
            Symbol::Register(id) => Ok(Operand::Register(id)),
            Symbol::Variable(id) => {
                let mut offset = 0i64;
                // `mov.u64 %rd, x+8`; inside brackets the same rule reads the whole sum.
                while self.at('+') {
                    self.advance()?;
                    offset = offset.wrapping_add(self.constant(0)? as i64);
                }
                Ok(Operand::Variable(id, offset))
            }
        }
    }

    fn register(&mut self, name: &str) -> Result<Option<RegisterId>> {
        Ok(match self.symbol(name)? {
            Some(Symbol::Register(id)) => Some(id),
            _ => None,
        })
    }

    /// Looks a name up from the innermost scope outwards; a member of a register range is declared by its first use.
    fn symbol(&mut self, name: &str) -> Result<Option<Symbol>> {
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
                let registers = &mut self.current().registers;
                let id = registers.len() as RegisterId;
                registers.push(Register { name: name.to_owned(), width: range.width });
                self.names[level].symbols.insert(name.to_owned(), Symbol::Register(id));
                return Ok(Some(Symbol::Register(id)));
            }
        }
        Ok(self.globals.get(name).map(|&id| Symbol::Variable(id)))
    }

    // ---- constant expressions ----

    fn constant(&mut self, depth: usize) -> Result<i128> {
        self.binary(0, depth)
    }

    fn binary(&mut self, lowest: u8, depth: usize) -> Result<i128> {
        let mut left = self.unary(depth)?;
        while let Some((operator, precedence)) = self.operator()
            && precedence >= lowest
        {
            self.advance()?;
            if matches!(operator, '<' | '>') {
                self.expect(operator)?;
            }
            let right = self.binary(precedence + 1, depth + 1)?;
            left = self.apply(operator, left, right)?;
        }
        Ok(left)
    }

    /// A binary operator and its precedence. A single '<' or '>' is not one, so that `%r<4>` ends its number.
    fn operator(&self) -> Option<(char, u8)> {
        let Token::Mark(mark) = self.token else { return None };
        let doubled = self.lexer.clone().next().is_ok_and(|(token, ..)| token == Token::Mark(mark));
        Some(match mark {
            '*' | '/' | '%' => (mark, 5),
            '+' | '-' => (mark, 4),
            '<' | '>' if doubled => (mark, 3),
            '&' => (mark, 2),
            '^' => (mark, 1),
            '|' => (mark, 0),
            _ => return None,
        })
    }

    fn apply(&self, operator: char, left: i128, right: i128) -> Result<i128> {
        let shift = || u32::try_from(right).ok().filter(|&s| s < 64);
        let value = match operator {
            '*' => left.checked_mul(right),
            '/' => left.checked_div(right),
            '%' => left.checked_rem(right),
            '+' => left.checked_add(right),
            '-' => left.checked_sub(right),
            '<' => shift().and_then(|s| left.checked_shl(s)),
            '>' => shift().map(|s| left >> s),
            '&' => Some(left & right),
            '^' => Some(left ^ right),
            _ => Some(left | right),
        };
        // 64-bit arithmetic wraps; both signs of a 64-bit word are kept as they were written.
        value
            .map(|v| if (-(1 << 63)..1 << 64).contains(&v) { v } else { i128::from(v as i64) })
            .ok_or_else(|| self.error("the constant expression divides by zero or overflows"))
    }

    fn unary(&mut self, depth: usize) -> Result<i128> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("the constant expression is nested more than {MAX_DEPTH} deep")));
        }
        match self.token {
            Token::Integer(value) => {
                self.advance()?;
                Ok(i128::from(value))
            }
            Token::Mark('-') => {
                self.advance()?;
                Ok(-self.unary(depth + 1)?)
            }
            Token::Mark('+') => {
                self.advance()?;
                self.unary(depth + 1)
            }
            Token::Mark('~') => {
                self.advance()?;
                Ok(i128::from(!(self.unary(depth + 1)? as i64)))
            }
            Token::Mark('!') => {
                self.advance()?;
                Ok(i128::from(self.unary(depth + 1)? == 0))
            }
            Token::Mark('(') => {
                self.advance()?;
                // A cast such as `(.s64)` changes nothing here: values are kept exactly.
                if let Some(".s64" | ".u64") = self.word() {
                    self.advance()?;
                    self.expect(')')?;
                    return self.unary(depth + 1);
                }
                let value = self.constant(depth + 1)?;
                self.expect(')')?;
                Ok(value)
            }
            Token::Word("WARP_SZ") => {
                self.advance()?;
                Ok(32)
            }
            _ => Err(self.expected("a number")),
        }
    }
}

/// Type, vector length and alignment of a declaration.
#[derive(Debug, Clone, Copy)]
struct DeclaredType {
    element: Type,
    lanes: u8,
    alignment: u32,
}

fn register_width(element: Type) -> u8 {
    match element {
        Type::Pred => 1,
        Type::Scalar { bytes, .. } => bytes * 8,
    }
}

fn variable_space(word: &str) -> Option<VariableSpace> {
    Some(match word {
        ".global" => VariableSpace::Global,
        ".const" => VariableSpace::Const,
        ".shared" => VariableSpace::Shared,
        ".local" => VariableSpace::Local,
        ".param" => VariableSpace::Param,
        _ => return None,
    })
}

/// Whether `word` has the shape of a special register; the decoder knows which exist.
fn is_special(word: &str) -> bool {
    let family = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    super::special::NAMES.iter().any(|known| family(known) == family(word))
}
