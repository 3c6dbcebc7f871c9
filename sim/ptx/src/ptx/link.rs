//! Links the PTX files of a program with relocatable device code into one PTX text.
//!
//! Files share the names that they declare `.visible`, `.weak` or `.extern`. Other names belong to their file, and get a suffix where
//! another file has the same name. CUDA's device runtime is a library: only the parts that the program uses are linked.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::ast::architecture;
use super::error::{PtxError, quote};
use super::lexer::{Lexer, Token};

/// Variable that only CUDA's device runtime (`libcudadevrt`) defines.
pub const DEVICE_RUNTIME: &str = "__CNPRT_VERSION_NUMBER__";

type Result<T> = std::result::Result<T, PtxError>;

/// Visibility of a name in other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linkage {
    Local,
    Extern,
    /// `.weak` or `.common`: the first definition counts, unless another one is visible.
    Weak,
    Visible,
}

/// A declaration at the level of the module.
#[derive(Debug)]
struct LinkItem<'a> {
    linkage: Linkage,
    /// `false`: a declaration without a body, or an `.extern` variable.
    defined: bool,
    entry: bool,
    /// `true`: a variable of the shared space, whose `.extern` declaration needs no definition.
    shared: bool,
    function: bool,
    names: Vec<&'a str>,
    line: u32,
    text: &'a str,
}

/// A PTX file, split into its declarations.
struct LinkFile<'a> {
    name: &'a str,
    /// PTX version, as its text.
    version: &'a str,
    target: &'a str,
    items: Vec<LinkItem<'a>>,
}

impl LinkFile<'_> {
    fn is_library(&self) -> bool {
        self.items.iter().any(|item| item.defined && item.names == [DEVICE_RUNTIME])
    }

    fn architecture(&self) -> u32 {
        architecture(self.target)
    }
}

/// Reads the declarations of a file.
struct LinkReader<'a> {
    file: &'a str,
    text: &'a str,
    lexer: Lexer<'a>,
    token: Token<'a>,
    line: u32,
    start: usize,
    previous_end: usize,
}

impl<'a> LinkReader<'a> {
    fn new(file: &'a str, text: &'a str) -> Result<Self> {
        let lexer = Lexer::new(text);
        let mut reader =
            LinkReader { file, text, lexer, token: Token::End, line: 1, start: 0, previous_end: 0 };
        reader.advance()?;
        Ok(reader)
    }

    fn error(&self, message: impl Into<String>) -> PtxError {
        PtxError { file: self.file.to_owned(), line: self.line, message: message.into() }
    }

    fn advance(&mut self) -> Result<()> {
        self.previous_end = self.lexer.position();
        let next = self.lexer.next();
        let (token, line, start) =
            next.map_err(|(line, message)| PtxError { file: self.file.to_owned(), line, message })?;
        (self.token, self.line, self.start) = (token, line, start);
        Ok(())
    }

    /// Skips a group in parentheses, which begins here.
    fn skip_group(&mut self) -> Result<()> {
        let mut depth = 0;
        loop {
            match self.token {
                Token::Mark('(') => depth += 1,
                Token::Mark(')') => depth -= 1,
                Token::End => return Err(self.error("expected ')', found the end of the file")),
                _ => {}
            }
            self.advance()?;
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Skips a block in braces, which begins here.
    fn skip_block(&mut self) -> Result<()> {
        self.lexer.go_back(self.start, self.line);
        if !self.lexer.skip_block() {
            return Err(self.error("expected '}', found the end of the file"));
        }
        self.advance()
    }

    fn skip_statement(&mut self) -> Result<()> {
        while self.token != Token::Mark(';') {
            if self.token == Token::End {
                return Err(self.error("expected ';', found the end of the file"));
            }
            self.advance()?;
        }
        self.advance()
    }

    fn skip_line(&mut self) -> Result<()> {
        let line = self.line;
        while self.line == line && self.token != Token::End {
            self.advance()?;
        }
        Ok(())
    }

    fn file(mut self) -> Result<LinkFile<'a>> {
        let mut file = LinkFile { name: self.file, version: "", target: "", items: Vec::new() };
        loop {
            match self.token {
                Token::End => return Ok(file),
                Token::Mark(';') => self.advance()?,
                Token::Word(".version") => {
                    self.advance()?;
                    let start = self.start;
                    self.advance()?;
                    file.version = &self.text[start..self.previous_end];
                }
                Token::Word(".target") => {
                    self.advance()?;
                    let line = self.line;
                    let start = self.start;
                    let mut end = start;
                    while self.line == line && self.token != Token::End {
                        self.advance()?;
                        end = self.previous_end;
                    }
                    file.target = &self.text[start..end];
                }
                Token::Word(".address_size" | ".file" | ".loc") => self.skip_line()?,
                Token::Word(".section") => {
                    while self.token != Token::Mark('{') && self.token != Token::End {
                        self.advance()?;
                    }
                    self.skip_block()?;
                }
                Token::Word(".pragma" | ".alias") => self.skip_statement()?,
                Token::Word(_) => file.items.push(self.item()?),
                _ => return Err(self.error(format!("expected a directive, found {}", self.token))),
            }
        }
    }

    fn item(&mut self) -> Result<LinkItem<'a>> {
        let (start, line) = (self.start, self.line);
        let mut item = LinkItem {
            linkage: Linkage::Local,
            defined: true,
            entry: false,
            shared: false,
            function: false,
            names: Vec::new(),
            line,
            text: "",
        };
        loop {
            item.linkage = match self.token {
                Token::Word(".visible") => Linkage::Visible,
                Token::Word(".extern") => Linkage::Extern,
                Token::Word(".weak" | ".common") => Linkage::Weak,
                _ => break,
            };
            self.advance()?;
        }
        match self.token {
            Token::Word(".entry" | ".func") => self.function(&mut item)?,
            _ => self.variable(&mut item)?,
        }
        item.text = &self.text[start..self.previous_end];
        Ok(item)
    }

    fn function(&mut self, item: &mut LinkItem<'a>) -> Result<()> {
        item.function = true;
        item.entry = self.token == Token::Word(".entry");
        self.advance()?;
        if self.token == Token::Mark('(') {
            self.skip_group()?;
        }
        let Token::Word(name) = self.token else {
            return Err(self.error(format!("expected a function's name, found {}", self.token)));
        };
        item.names.push(name);
        self.advance()?;
        loop {
            match self.token {
                Token::Mark('{') => return self.skip_block(),
                Token::Mark(';') => {
                    item.defined = false;
                    return self.advance();
                }
                // The `;` of a pragma does not end the function.
                Token::Word(".pragma") => self.skip_statement()?,
                Token::End => return Err(self.error("expected ';' or '{', found the end of the file")),
                _ => self.advance()?,
            }
        }
    }

    fn variable(&mut self, item: &mut LinkItem<'a>) -> Result<()> {
        item.defined = item.linkage != Linkage::Extern;
        item.shared = self.token == Token::Word(".shared");
        let mut depth = 0u32;
        let mut expects_name = true;
        loop {
            match self.token {
                Token::Word(name) if expects_name && depth == 0 && !name.starts_with('.') => {
                    item.names.push(name);
                    expects_name = false;
                }
                Token::Mark('{' | '(') => depth += 1,
                Token::Mark('}' | ')') => depth = depth.saturating_sub(1),
                Token::Mark(',') if depth == 0 => expects_name = true,
                Token::Mark(';') => break,
                Token::End => return Err(self.error("expected ';', found the end of the file")),
                _ => {}
            }
            self.advance()?;
        }
        if item.names.is_empty() {
            return Err(self.error("expected a variable's name, found ';'"));
        }
        self.advance()
    }
}

/// Returns the words of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut lexer = Lexer::new(text);
    std::iter::from_fn(move || {
        loop {
            match lexer.next().ok()?.0 {
                Token::End => return None,
                Token::Word(word) => return Some(word),
                _ => {}
            }
        }
    })
}

/// Appends a text in which words have new names.
fn append(out: &mut String, text: &str, names: &HashMap<&str, String>) {
    let mut lexer = Lexer::new(text);
    let mut copied = 0;
    while !names.is_empty()
        && let Ok((token, _, start)) = lexer.next()
    {
        match token {
            Token::End => break,
            Token::Word(word) => {
                if let Some(name) = names.get(word) {
                    out.push_str(&text[copied..start]);
                    out.push_str(name);
                    copied = lexer.position();
                }
            }
            _ => {}
        }
    }
    out.push_str(&text[copied..]);
    out.push('\n');
}

/// The definitions that other files see: file and index of the item, by name.
type Definitions<'a> = HashMap<&'a str, (usize, usize)>;

/// Chooses the definition of each name that files share.
fn definitions<'a>(files: &[LinkFile<'a>]) -> Result<Definitions<'a>> {
    let mut out = Definitions::new();
    for (number, file) in files.iter().enumerate() {
        for (index, item) in file.items.iter().enumerate().filter(|(_, item)| item.defined) {
            for name in &item.names {
                if item.linkage == Linkage::Local {
                    continue;
                }
                let Some((other_file, other)) = out.insert(name, (number, index)) else { continue };
                let earlier = &files[other_file].items[other];
                match (earlier.linkage, item.linkage) {
                    (Linkage::Visible, Linkage::Visible) => {
                        let other = files[other_file].name;
                        let message = format!("'{}' is defined in {other} too", quote(name));
                        return Err(PtxError { file: file.name.to_owned(), line: item.line, message });
                    }
                    (Linkage::Weak, Linkage::Visible) => {}
                    _ => drop(out.insert(name, (other_file, other))),
                }
            }
        }
    }
    Ok(out)
}

/// Returns the items of libraries that the program's own files use, directly or through other items.
fn used_of_libraries(files: &[LinkFile], definitions: &Definitions) -> HashSet<(usize, usize)> {
    let mut local: HashMap<(usize, &str), Vec<usize>> = HashMap::new();
    for (number, file) in files.iter().enumerate().filter(|(_, file)| file.is_library()) {
        for (index, item) in file.items.iter().enumerate() {
            item.names.iter().for_each(|name| local.entry((number, name)).or_default().push(index));
        }
    }
    let own = files.iter().enumerate().filter(|(_, file)| !file.is_library());
    let mut open: Vec<(usize, &str)> =
        own.flat_map(|(number, file)| file.items.iter().map(move |item| (number, item.text))).collect();
    let mut used = HashSet::new();
    while let Some((number, text)) = open.pop() {
        for word in words(text) {
            let inside = local.get(&(number, word)).into_iter().flatten().map(|index| (number, *index));
            let shared = definitions.get(word).copied().filter(|(file, _)| files[*file].is_library());
            for place in inside.chain(shared) {
                if used.insert(place) {
                    open.push((place.0, files[place.0].items[place.1].text));
                }
            }
        }
    }
    used
}

/// Returns the new names of a file's local items whose names other files have, too.
fn new_names<'a>(number: usize, files: &[LinkFile<'a>]) -> HashMap<&'a str, String> {
    let others = files.iter().enumerate().filter(|(other, _)| *other != number);
    let taken: HashSet<&str> =
        others.flat_map(|(_, file)| &file.items).flat_map(|item| item.names.iter().copied()).collect();
    let local = files[number].items.iter().filter(|item| item.linkage == Linkage::Local && !item.entry);
    let names = local.flat_map(|item| &item.names).filter(|name| taken.contains(*name));
    names.map(|name| (*name, format!("{name}$file{}", number + 1))).collect()
}

/// Links PTX files, each with its name for messages, into one text.
///
/// # Errors
/// [`PtxError`] for text that is not PTX outside functions, two visible definitions of a name, and a variable without definition.
pub fn link(files: &[(&str, &str)]) -> Result<String> {
    let files =
        files.iter().map(|(name, text)| LinkReader::new(name, text)?.file()).collect::<Result<Vec<_>>>()?;
    let definitions = definitions(&files)?;
    let used = used_of_libraries(&files, &definitions);
    // The device runtime is compiled for the newest architecture, and the program may be older.
    let own = files.iter().filter(|file| !file.is_library());
    let newest = own.max_by_key(|file| file.architecture());
    let number = |file: &&LinkFile| file.version.parse().unwrap_or(0.0);
    let version = files.iter().max_by(|a, b| f64::total_cmp(&number(a), &number(b)));
    let (version, target) = (version.map_or("", |f| f.version), newest.map_or("", |f| f.target));
    let mut out = format!(".version {version}\n.target {target}\n.address_size 64\n");
    for (number, file) in files.iter().enumerate() {
        let names = new_names(number, &files);
        let _ = writeln!(out, "// {}", file.name);
        for (index, item) in file.items.iter().enumerate() {
            if file.is_library() && !used.contains(&(number, index)) {
                continue;
            }
            let name = item.names[0];
            let chosen = definitions.get(name);
            if !item.defined && !item.function && !item.shared && chosen.is_none() {
                let message = format!("variable '{}' is .extern, and no file defines it", quote(name));
                return Err(PtxError { file: file.name.to_owned(), line: item.line, message });
            }
            let is_other = item.defined && item.linkage != Linkage::Local && chosen != Some(&(number, index));
            if !is_other {
                append(&mut out, item.text, &names);
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::DeviceMemory;
    use crate::ptx::{LaunchDims, Module, run_kernel};

    const HEAD: &str = ".version 7.8\n.target sm_60\n.address_size 64\n";

    /// Returns a PTX file with this body.
    fn file(body: &str) -> String {
        format!("{HEAD}{body}")
    }

    fn linked(bodies: &[&str]) -> Result<String> {
        let texts: Vec<String> = bodies.iter().map(|body| file(body)).collect();
        let names: Vec<String> = (1..=texts.len()).map(|number| format!("{number}.ptx")).collect();
        let files: Vec<(&str, &str)> =
            names.iter().zip(&texts).map(|(n, t)| (n.as_str(), t.as_str())).collect();
        link(&files)
    }

    /// Returns the word that kernel `k` of the linked files stores.
    fn value(bodies: &[&str]) -> u32 {
        let text = linked(bodies).expect("they link");
        let module = Module::parse("linked", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let mut memory = DeviceMemory::new();
        module.load(&mut memory).expect("it fits");
        let out = memory.alloc(4, "out").expect("it fits");
        let kernel = module.kernel("k").expect("it exists");
        let dims = LaunchDims::new([1, 1, 1], [1, 1, 1]);
        run_kernel(&kernel, &dims, &out.to_le_bytes(), &mut memory, &mut |_| true).expect("it ends");
        memory.read_u32s(out, 1).expect("it is there")[0]
    }

    /// Kernel that stores what `body` leaves in `%r1`.
    fn kernel(body: &str) -> String {
        format!(
            ".visible .entry k(.param .u64 out) {{ .reg .u64 %rd<4>; .reg .u32 %r<4>;\n{body}\nld.param.u64 %rd1, [out];\n\
             st.global.u32 [%rd1], %r1;\nret;\n}}\n"
        )
    }

    const CALL: &str = "{ .param .b32 r; call.uni (r), f, (); ld.param.b32 %r1, [r]; }";

    fn returns(linkage: &str, name: &str, value: &str) -> String {
        format!(
            "{linkage} .func (.param .b32 r) {name}() {{ .reg .u32 %r<2>; {value} st.param.b32 [r], %r1; ret; }}\n"
        )
    }

    #[test]
    fn a_file_calls_and_reads_what_another_one_defines_before_or_after_it() {
        let user = format!(
            ".extern .func (.param .b32 r) f();\n.extern .global .align 4 .u32 x;\n{}",
            kernel(&format!("{CALL}\nld.global.u32 %r2, [x];\nadd.u32 %r1, %r1, %r2;"))
        );
        let maker = format!(
            ".visible .global .align 4 .u32 x = 30;\n{}",
            returns(".visible", "f", "mov.u32 %r1, 12;")
        );
        assert_eq!((value(&[&user, &maker]), value(&[&maker, &user])), (42, 42));
    }

    #[test]
    fn names_of_one_file_are_not_those_of_another() {
        let read = "ld.global.u32 %r1, [text];";
        let own = |value| format!(".global .align 4 .u32 text = {value};\n");
        let user = format!(
            ".extern .func (.param .b32 r) f();\n{}{}",
            own(1),
            kernel(&format!("{CALL} ld.global.u32 %r2, [text]; mad.lo.u32 %r1, %r1, 100, %r2;"))
        );
        let maker = format!("{}{}", own(7), returns(".visible", "f", read));
        assert_eq!(value(&[&user, &maker]), 701);
        let helper = |value: &str| returns("", "f", value);
        let first = format!("{}{}", helper("mov.u32 %r1, 5;"), kernel(CALL));
        let second = format!("{}{}", helper("mov.u32 %r1, 6;"), returns(".visible", "g", "mov.u32 %r1, 1;"));
        assert_eq!((value(&[&first, &second]), value(&[&second, &first])), (5, 5));
    }

    #[test]
    fn the_first_weak_definition_counts_unless_another_one_is_visible() {
        let of = |linkage, number| returns(linkage, "f", &format!("mov.u32 %r1, {number};"));
        let user = format!("{}{}", of(".weak", 1), kernel(CALL));
        assert_eq!(value(&[&user, &of(".weak", 2)]), 1);
        assert_eq!(value(&[&of(".weak", 2), &user]), 2);
        assert_eq!((value(&[&user, &of(".visible", 3)]), value(&[&of(".visible", 3), &user])), (3, 3));
        let twice =
            linked(&[&of(".visible", 1), &of(".visible", 2)]).expect_err("two definitions").to_string();
        assert_eq!(twice, "2.ptx:4: 'f' is defined in 1.ptx too");
    }

    #[test]
    fn a_variable_without_definition_is_refused() {
        let missing = linked(&["\n.extern .global .align 4 .u32 x;\n", ".global .u32 y;\n"]);
        let line = "1.ptx:5: variable 'x' is .extern, and no file defines it";
        assert_eq!(missing.expect_err("it is missing").to_string(), line);
        assert!(linked(&[".extern .shared .align 16 .b8 x[];\n", ".global .u32 y;\n"]).is_ok());
    }

    #[test]
    fn only_what_a_program_uses_of_the_device_runtime_is_linked() {
        let library = format!(
            ".visible .global .align 4 .u32 {DEVICE_RUNTIME} = 6000;\n.entry copy() {{ ret; }}\n.entry set() {{ ret; }}\n\
             .global .align 8 .u64 copies[1] = {{copy}};\n.global .align 4 .u32 used = 9;\n{}{}{}",
            returns(".visible", "unused", "ld.global.u32 %r1, [copies];"),
            returns(".visible", "f", "{ .param .b32 q; call.uni (q), inner, (); ld.param.b32 %r1, [q]; }"),
            returns("", "inner", "ld.global.u32 %r1, [used];"),
        );
        let user = format!(".extern .func (.param .b32 r) f();\n{}", kernel(CALL));
        assert_eq!(value(&[&user, &library]), 9);
        let newer = library.clone();
        let text =
            link(&[("user", &file(&user)), ("library", &format!(".version 9.1\n.target sm_121\n{newer}"))])
                .expect("they link");
        assert!(text.starts_with(".version 9.1\n.target sm_60\n"), "{text}");
        for absent in ["copy", "copies", "set", "unused", DEVICE_RUNTIME] {
            assert!(!words(&text).any(|word| word == absent), "{absent}");
        }
    }

    #[test]
    fn every_cut_ends_with_an_answer() {
        let whole = file(&format!(
            "{}.file 1 \"a.cu\"\n.section .debug {{ .b8 1 }}\n{}",
            ".global .u32 x[2] = {1, 2}, y;\n",
            kernel(CALL)
        ));
        for length in 0..whole.len() {
            // Some cuts leave whole declarations; none may cause a panic.
            let _ = link(&[("a", &whole[..length]), ("b", HEAD)]);
        }
        assert!(link(&[("a", &whole), ("b", HEAD)]).is_ok());
    }
}
