//! Parses PTX text (ISA 2.3 to 8.x) into an [`Ast`].
//!
//! Names are resolved during parsing, because PTX declares names before their use. Only labels and functions are
//! looked up later. Recursion is limited to constant expressions, whose depth has a limit.

use std::collections::HashMap;

use super::ast::{Ast, Function, RegisterId, ScopeId, Type, VariableId, VariableSpace, architecture};
use super::error::{PtxError, quote};
use super::lexer::{Lexer, Token};
use super::recursion::STACK_BYTES;

mod constants;
mod functions;
mod instructions;
mod variables;

/// Max nesting of braces in a function, and of parentheses in a constant expression.
const MAX_DEPTH: usize = 200;
/// Max size of a variable, in bytes.
const MAX_VARIABLE_BYTES: u64 = 1 << 30;
/// Max operands of one instruction.
const MAX_OPERANDS: usize = 256;

type Result<T> = std::result::Result<T, PtxError>;

/// Meaning of a declared name.
#[derive(Debug, Clone, Copy)]
enum NameMeaning {
    Register(RegisterId),
    /// A register of several elements, which are registers with consecutive numbers.
    Vector {
        first: RegisterId,
        lanes: u8,
    },
    Variable(VariableId),
}

/// `.reg .b32 %r<100>`: registers that get a number at their first use.
#[derive(Debug, Clone, Copy)]
struct RegisterRange {
    width: u8,
    lanes: u8,
    count: u64,
}

/// Names declared in one pair of braces.
#[derive(Debug, Default)]
struct BraceNames {
    scope: ScopeId,
    symbols: HashMap<String, NameMeaning>,
    ranges: HashMap<String, RegisterRange>,
}

pub(crate) struct PtxParser<'a> {
    file: &'a str,
    lexer: Lexer<'a>,
    token: Token<'a>,
    line: u32,
    start: usize,
    /// Offset of the end of the previous token.
    previous_end: usize,
    ast: Ast,
    globals: HashMap<String, VariableId>,
    function_names: HashMap<String, usize>,
    /// The function being parsed and its open scopes.
    function: Option<Function>,
    names: Vec<BraceNames>,
    /// `true`: a pragma forbids unrolling of the loop that contains the next instruction.
    rolled: bool,
}

/// A position of the parser in the text.
struct ParserPosition<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    line: u32,
    start: usize,
    previous_end: usize,
}

/// Parses the whole text. An unreadable function is part of the result, with its error. Other mistakes are errors.
pub(crate) fn parse(file: &str, text: &str) -> Result<Ast> {
    let mut parser = PtxParser {
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
        rolled: false,
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
    parser.ast.add_stacks(STACK_BYTES);
    Ok(parser.ast)
}

impl<'a> PtxParser<'a> {
    fn error(&self, message: impl Into<String>) -> PtxError {
        self.error_at(self.line, message)
    }

    fn error_at(&self, line: u32, message: impl Into<String>) -> PtxError {
        PtxError { file: self.file.to_owned(), line, message: message.into() }
    }

    fn expected(&self, what: &str) -> PtxError {
        self.error(format!("expected {what}, found {}", self.token))
    }

    fn place(&self) -> ParserPosition<'a> {
        let PtxParser { token, line, start, previous_end, .. } = *self;
        ParserPosition { lexer: self.lexer.clone(), token, line, start, previous_end }
    }

    fn go_back(&mut self, to: ParserPosition<'a>) {
        let ParserPosition { lexer, token, line, start, previous_end } = to;
        (self.lexer, self.token, self.line) = (lexer, token, line);
        (self.start, self.previous_end) = (start, previous_end);
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
            Token::Double(_) => {
                // Decimal tokens no longer have their text, so the message quotes the source.
                let written = self.lexer.since(self.start);
                Err(self.error(format!("expected a PTX version from 1.0 to 9.x, found '{}'", quote(written))))
            }
            _ => Err(self.expected("a PTX version from 1.0 to 9.x")),
        }
    }

    fn module_directive(&mut self, directive: &'a str) -> Result<()> {
        match directive {
            ".target" => {
                self.advance()?;
                let target = self.take_word("a target such as sm_60")?;
                self.ast.architecture = architecture(target);
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

    /// Skips the rest of the line, which ends a debug directive.
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

/// Returns whether `word` has the form of a special register. The decoder checks that it exists.
fn is_special(word: &str) -> bool {
    let family = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    super::special::find(word).is_some()
        || super::special::NAMES.iter().any(|known| family(known) == family(word))
}
