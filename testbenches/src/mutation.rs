//! Faults for Verilog: mutations of operators and constants in its text, drawn by a seed.
//!
//! A mutation changes one token. Declarations, headers of modules, parameters, `initial` blocks, loop headers, ranges of bits,
//! and the conditions of `generate` blocks are not changed, because they fix the structure of the circuit.
use selvedge_hw::Prng;
use std::fmt;
use std::ops::Range;

/// A mutation of one token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerilogMutation {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The token.
    pub from: String,
    /// The token that replaces it; an empty text removes it.
    pub to: String,
    place: Range<usize>,
}

impl VerilogMutation {
    /// Returns the text with the fault.
    pub fn apply(&self, text: &str) -> String {
        [&text[..self.place.start], &self.to, &text[self.place.end..]].concat()
    }
}

impl fmt::Display for VerilogMutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to.as_str() {
            "" => write!(f, "without {}", self.from),
            to => write!(f, "{} -> {to}", self.from),
        }
    }
}

/// Binary operators, each with the operator that replaces it.
const BINARY: [(&str, &str); 19] = [
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("&", "|"),
    ("|", "&"),
    ("^", "|"),
    ("~^", "^"),
    ("&&", "||"),
    ("||", "&&"),
    ("==", "!="),
    ("!=", "=="),
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("<<", ">>"),
    (">>", "<<"),
    ("<<<", ">>>"),
    (">>>", ">>"),
];

/// Unary operators, each with the operator that replaces it.
const UNARY: [(&str, &str); 7] =
    [("!", ""), ("~", ""), ("&", "|"), ("|", "&"), ("^", "&"), ("~&", "~|"), ("~|", "~&")];

/// Symbols of several characters, the longest first.
const SYMBOLS: [&str; 22] = [
    "<<<", ">>>", "===", "!==", "&&&", "<<", ">>", "&&", "||", "==", "!=", "<=", ">=", "~^", "^~", "~&",
    "~|", "**", "->", "::", "+:", "-:",
];

/// Words that begin a declaration, which ends at its `=` or `;`.
const DECLARATIONS: [&str; 14] = [
    "input", "output", "inout", "wire", "reg", "logic", "bit", "integer", "int", "tri", "genvar", "var",
    "signed", "unsigned",
];
/// Words that begin a statement without mutations, up to its `;`.
const FIXED: [&str; 7] = ["module", "parameter", "localparam", "typedef", "import", "package", "defparam"];
/// Words before the statements of a process. The conditions of other statements are those of `generate`.
const PROCESSES: [&str; 6] = ["always", "always_comb", "always_ff", "always_latch", "function", "task"];
/// Words at the level of a module.
const ITEMS: [&str; 5] = ["assign", "generate", "endgenerate", "endfunction", "endtask"];
/// Directives that take the rest of their line.
const LINES: [&str; 12] = [
    "define",
    "include",
    "timescale",
    "default_nettype",
    "ifdef",
    "ifndef",
    "elsif",
    "undef",
    "line",
    "pragma",
    "else",
    "endif",
];

/// Returns all mutations of a text, in its order.
pub fn mutations(text: &str) -> Vec<VerilogMutation> {
    let tokens = tokens(text);
    let mut finder = Finder { text, tokens: &tokens, found: Vec::new(), is_process: false };
    finder.run();
    finder.found
}

/// Returns `items` in an order that depends only on `seed`.
pub fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut prng = Prng::new(seed);
    for last in (1..items.len()).rev() {
        items.swap(last, prng.below(last as u64 + 1) as usize);
    }
    items
}

/// A token of Verilog, by its place. Comments, blanks, texts in quotes and directives are not tokens.
type TokenPlace = Range<usize>;

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || c == b'$'
}

/// Returns the tokens of a text.
fn tokens(text: &str) -> Vec<TokenPlace> {
    let bytes = text.as_bytes();
    let until =
        |from: usize, end: &str| text[from..].find(end).map_or(text.len(), |at| from + at + end.len());
    let word_end =
        |from: usize| from + bytes[from..].iter().position(|c| !is_word(*c)).unwrap_or(bytes.len() - from);
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        at = match bytes[at] {
            _ if rest.starts_with("//") => until(at, "\n"),
            _ if rest.starts_with("/*") => until(at + 2, "*/"),
            _ if rest.starts_with("(*") && !rest.starts_with("(*)") => until(at + 2, "*)"),
            b'"' => quote_end(bytes, at + 1),
            b'`' => {
                let end = word_end(at + 1);
                if LINES.contains(&&text[at + 1..end]) { until(end, "\n") } else { end }
            }
            // An escaped name ends at a blank.
            b'\\' => at + rest.find(char::is_whitespace).unwrap_or(rest.len()),
            b'\'' => {
                let end = word_end(at + 1);
                tokens.push(at..end);
                end
            }
            c if is_word(c) => {
                let mut end = word_end(at);
                if c.is_ascii_digit() && bytes.get(end) == Some(&b'\'') {
                    end = word_end(end + 1);
                }
                tokens.push(at..end);
                end
            }
            c if c.is_ascii_punctuation() => {
                let length = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)).map_or(1, |s| s.len());
                tokens.push(at..at + length);
                at + length
            }
            _ => at + rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    tokens
}

/// Returns the end of a text in quotes that begins before `at`.
fn quote_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The search for mutations.
struct Finder<'a> {
    text: &'a str,
    tokens: &'a [TokenPlace],
    found: Vec<VerilogMutation>,
    /// `true` within a process.
    is_process: bool,
}

/// The part of a statement before the current token.
#[derive(Default)]
struct StatementPart {
    declares: bool,
    assigns: bool,
    depth: usize,
    questions: usize,
}

impl Finder<'_> {
    fn token(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |place| &self.text[place.clone()])
    }

    fn run(&mut self) {
        let mut statement = StatementPart::default();
        let mut at = 0;
        while at < self.tokens.len() {
            let token = self.token(at).to_string();
            let token = token.as_str();
            let next = at + 1;
            at = match token {
                _ if FIXED.contains(&token) => self.after(next, ";"),
                "initial" if self.token(next) == "begin" => self.after_block(next),
                "initial" => self.after(next, ";"),
                "for" | "while" | "repeat" | "#" => self.after_group(next),
                "if" | "case" if !self.is_process => self.after_group(next),
                "@" => self.after_group(next),
                _ => next,
            };
            if at > next {
                statement = StatementPart::default();
                continue;
            }
            if matches!(token, "[" | "{") {
                at = self.after_widths(at - 1).unwrap_or(next);
                statement.depth += usize::from(token == "{" || at == next);
                continue;
            }
            match token {
                ";" | "begin" | "end" | "else" if statement.depth == 0 => {
                    statement = StatementPart::default()
                }
                _ if PROCESSES.contains(&token) => self.is_process = true,
                _ if ITEMS.contains(&token) => self.is_process = false,
                _ if DECLARATIONS.contains(&token) => statement.declares = true,
                "(" => statement.depth += 1,
                ")" | "]" | "}" => statement.depth = statement.depth.saturating_sub(1),
                "?" => statement.questions += 1,
                ":" if statement.depth == 0 && statement.questions > 0 => statement.questions -= 1,
                ":" if statement.depth == 0 => statement = StatementPart::default(),
                "=" if statement.depth == 0 => (statement.declares, statement.assigns) = (false, true),
                "<=" if statement.depth == 0 && !statement.assigns => statement.assigns = true,
                _ if !statement.declares => self.mutate(at - 1, token),
                _ => {}
            }
        }
    }

    /// Adds the mutation of a token, if it has one.
    fn mutate(&mut self, at: usize, token: &str) {
        let is_operand = at > 0 && is_operand(self.token(at - 1));
        let operators = if is_operand { BINARY.as_slice() } else { UNARY.as_slice() };
        let operator = operators.iter().find(|(from, _)| *from == token).map(|(_, to)| (*to).to_string());
        let Some(to) = operator.or_else(|| changed_constant(token)) else { return };
        let place = self.tokens[at].clone();
        let before = &self.text[..place.start];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        self.found.push(VerilogMutation {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            from: token.into(),
            to,
            place,
        });
    }

    /// Returns the place after the next `end` outside brackets.
    fn after(&self, mut at: usize, end: &str) -> usize {
        let mut depth = 0;
        while at < self.tokens.len() {
            match self.token(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                token if token == end && depth <= 0 => return at + 1,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Returns the place after the brackets that begin at `at`, or `at` without brackets.
    fn after_group(&self, mut at: usize) -> usize {
        if self.token(at) != "(" {
            return at;
        }
        let mut depth = 0;
        while at < self.tokens.len() {
            match self.token(at) {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        at
    }

    /// Returns the place after a range of bits, `[A:B]`, or after the count of a repetition, `{COUNT{`, if one begins at `at`.
    fn after_widths(&self, at: usize) -> Option<usize> {
        if self.token(at) == "{" {
            let end = if self.token(at + 1) == "(" { self.after_group(at + 1) } else { at + 2 };
            return (self.token(end) == "{").then_some(end);
        }
        let mut depth = 0;
        let mut is_range = false;
        for place in at..self.tokens.len() {
            match self.token(place) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                ":" | "+:" | "-:" if depth == 1 => is_range = true,
                _ => {}
            }
            if depth == 0 {
                return is_range.then_some(place + 1);
            }
        }
        None
    }

    /// Returns the place after the block whose `begin` is at `at`.
    fn after_block(&self, mut at: usize) -> usize {
        let mut depth = 0;
        while at < self.tokens.len() {
            match self.token(at) {
                "begin" | "case" => depth += 1,
                "end" | "endcase" => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        at
    }
}

/// Returns whether an operator after this token has a left operand.
fn is_operand(token: &str) -> bool {
    let keywords = ["return", "case", "casez", "inside", "assign", "begin", "else"];
    let is_closed = matches!(token, ")" | "]" | "}");
    is_closed || token.starts_with(|c: char| is_word(c as u8) || c == '\'') && !keywords.contains(&token)
}

/// Returns another constant of the same size, or `None` if the token is not a constant of known bits.
fn changed_constant(token: &str) -> Option<String> {
    if !token.starts_with(|c: char| c.is_ascii_digit() || c == '\'') {
        return None;
    }
    let Some((size, rest)) = token.split_once('\'') else {
        return token.parse::<u64>().ok().map(|value| (value ^ 1).to_string());
    };
    let base_at = rest.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 's' | 'S'));
    let Some(base_at) = base_at else {
        // '0 and '1 set all bits.
        return (rest.len() == 1).then(|| format!("{size}'{}", if rest == "0" { "1" } else { "0" }));
    };
    let (base, digits) = rest.split_at(base_at + 1);
    let radix = match base.bytes().last()?.to_ascii_lowercase() {
        b'b' => 2,
        b'o' => 8,
        b'd' => 10,
        b'h' => 16,
        _ => return None,
    };
    let is_known = digits.chars().all(|digit| digit == '_' || digit.is_digit(radix));
    let last = digits.chars().last()?.to_digit(radix)?;
    let other = char::from_digit(last ^ 1, radix)?;
    is_known.then(|| format!("{size}'{base}{}{other}", &digits[..digits.len() - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(verilog: &str) -> Vec<String> {
        mutations(verilog).iter().map(VerilogMutation::to_string).collect()
    }

    #[test]
    fn operators_and_constants_of_logic_change_and_nothing_else() {
        let text = "`define A 1 + 1
module m #(parameter W = 4 + 1) (input wire [W-1:0] a, output reg [3:0] y);
  localparam L = W - 1; // 1 + 1
  wire [L-1:0] x = a + 3'd5, z = \"1 + 1\";
  initial begin y = 4'd1; end
  generate if (W > 3) begin : g assign q = ~a & |x; end endgenerate
  always @(posedge clk or negedge rst) begin
    for (i = 0; i < 4; i = i + 1) y[i] <= !a;
    if (a <= 2) y <= a <= x ? 4'hF : 4'bx;
    case (x) 3'd1: y <= y[W-1:0] << 1; default: y <= {{(W-1){1'b0}}, y[2]}; endcase
  end
endmodule
";
        let found = [
            "+ -> -",
            "3'd5 -> 3'd4",
            "without ~",
            "& -> |",
            "| -> &",
            "without !",
            "<= -> <",
            "2 -> 3",
            "<= -> <",
            "4'hF -> 4'he",
            "3'd1 -> 3'd0",
            "<< -> >>",
            "1 -> 0",
            "1'b0 -> 1'b1",
            "2 -> 3",
        ];
        assert_eq!(texts(text), found);
        let plus = &mutations(text)[0];
        assert_eq!((plus.line, plus.column), (4, 22));
        assert!(plus.apply(text).contains("x = a - 3'd5, z = \"1 + 1\""));
    }

    #[test]
    fn constants_keep_their_size() {
        let changed = ["1'b0", "8'd9", "12'h7f_0", "'1", "7", "4'sd3"].map(changed_constant);
        let wanted = ["1'b1", "8'd8", "12'h7f_1", "'0", "6", "4'sd2"].map(|text| Some(text.to_string()));
        assert_eq!(changed, wanted);
        assert_eq!(["4'bx", "4'b1z", "a1", "'x", "4'd_"].map(changed_constant), [const { None }; 5]);
    }

    #[test]
    fn the_order_depends_on_the_seed_alone() {
        let order = |seed| shuffled((0..20).collect(), seed);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
