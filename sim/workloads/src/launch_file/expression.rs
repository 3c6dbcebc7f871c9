//! Integer expressions over the turns of loops: `(n - turn + 15) / 16`.
use super::element::FileNumber;

/// Max nesting of parentheses and signs.
const MAX_DEPTH: u32 = 64;
/// Name of the turn of the innermost loop.
const TURN: &str = "turn";

/// An expression over the turns of the enclosing loops.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TurnExpression {
    Number(i64),
    /// The turn of an enclosing loop, by its position. The outermost is first.
    Turn(usize),
    Negated(Box<TurnExpression>),
    Pair(Operator, Box<[TurnExpression; 2]>),
}

/// An operator or function of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Rounds towards zero.
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    Least,
    Most,
}

impl Operator {
    fn apply(self, a: i64, b: i64) -> Option<i64> {
        let places = u32::try_from(b).ok().filter(|places| *places < 63);
        match self {
            Self::Add => a.checked_add(b),
            Self::Subtract => a.checked_sub(b),
            Self::Multiply => a.checked_mul(b),
            Self::Divide => a.checked_div(b),
            Self::Remainder => a.checked_rem(b),
            Self::ShiftLeft => a.checked_mul(1 << places?),
            Self::ShiftRight => Some(a >> places?),
            Self::Least => Some(a.min(b)),
            Self::Most => Some(a.max(b)),
        }
    }
}

impl TurnExpression {
    /// Parses a number, or text with an expression over the turns of `loops`, the outermost first. `turn` names the
    /// turn of the last.
    ///
    /// # Errors
    /// A description of the error.
    pub(super) fn read(number: &FileNumber, loops: &[&str]) -> Result<Self, String> {
        match number {
            FileNumber::Int(value) => Ok(Self::Number(*value)),
            FileNumber::Float(value) => Err(format!("{value:?} is not an integer")),
            FileNumber::Text(text) => {
                let mut reader = ExpressionReader { rest: text.trim_start(), loops, depth: 0 };
                let value = reader.sum()?;
                if reader.rest.is_empty() { Ok(value) } else { Err(reader.unexpected("an operator")) }
            }
        }
    }

    /// Returns the value for the given turn of each loop; `None` if it divides by zero or overflows.
    pub(super) fn value(&self, turns: &[u64]) -> Option<i64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Turn(place) => i64::try_from(*turns.get(*place)?).ok(),
            Self::Negated(value) => value.value(turns)?.checked_neg(),
            Self::Pair(operator, operands) => {
                operator.apply(operands[0].value(turns)?, operands[1].value(turns)?)
            }
        }
    }
}

/// Unread rest of an expression's text.
struct ExpressionReader<'a> {
    rest: &'a str,
    loops: &'a [&'a str],
    depth: u32,
}

impl<'a> ExpressionReader<'a> {
    fn unexpected(&self, wanted: &str) -> String {
        match self.rest.split_whitespace().next() {
            Some(word) => {
                let word: String = word.chars().take(20).collect();
                format!("expected {wanted}, found `{word}`")
            }
            None => format!("expected {wanted}, found the end"),
        }
    }

    fn accept(&mut self, mark: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(mark) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        word
    }

    /// Parses one precedence level of left-associative operators.
    fn level(
        &mut self,
        operators: &[(&str, Operator)],
        next: fn(&mut Self) -> Result<TurnExpression, String>,
    ) -> Result<TurnExpression, String> {
        let mut value = next(self)?;
        let mut length = 0;
        'more: loop {
            for (mark, operator) in operators {
                if self.accept(mark) {
                    length += 1;
                    if length > MAX_DEPTH {
                        return Err(format!("more than {MAX_DEPTH} operators in a row"));
                    }
                    value = TurnExpression::Pair(*operator, Box::new([value, next(self)?]));
                    continue 'more;
                }
            }
            return Ok(value);
        }
    }

    fn sum(&mut self) -> Result<TurnExpression, String> {
        self.level(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<TurnExpression, String> {
        let operators = [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)];
        self.level(&operators, Self::shift)
    }

    fn shift(&mut self) -> Result<TurnExpression, String> {
        self.level(&[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)], Self::single)
    }

    fn single(&mut self) -> Result<TurnExpression, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} deep"));
        }
        let value = self.operand();
        self.depth -= 1;
        value
    }

    fn operand(&mut self) -> Result<TurnExpression, String> {
        if self.accept("-") {
            return Ok(TurnExpression::Negated(Box::new(self.single()?)));
        }
        if self.accept("(") {
            let value = self.sum()?;
            return if self.accept(")") { Ok(value) } else { Err(self.unexpected("`)`")) };
        }
        let before = self.rest;
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return word
                .parse()
                .map(TurnExpression::Number)
                .map_err(|_| format!("`{word}` is not an integer"));
        }
        let function = match word {
            "min" => Some(Operator::Least),
            "max" => Some(Operator::Most),
            _ => None,
        };
        if let Some(function) = function.filter(|_| self.rest.starts_with('(')) {
            self.accept("(");
            let first = self.sum()?;
            if !self.accept(",") {
                return Err(self.unexpected("`,`"));
            }
            let second = self.sum()?;
            let closed = self.accept(")");
            return if closed {
                Ok(TurnExpression::Pair(function, Box::new([first, second])))
            } else {
                Err(self.unexpected("`)`"))
            };
        }
        if word == TURN && !self.loops.is_empty() {
            return Ok(TurnExpression::Turn(self.loops.len() - 1));
        }
        if let Some(place) = self.loops.iter().rposition(|name| *name == word) {
            return Ok(TurnExpression::Turn(place));
        }
        if word.is_empty() {
            self.rest = before;
            return Err(self.unexpected("a number, the turn of a loop, min, max or `(`"));
        }
        let there = match self.loops {
            [] => "it is in no loop".to_owned(),
            loops => format!("there are turn, {}", loops.join(", ")),
        };
        Err(format!("`{word}` is not known: {there}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<TurnExpression, String> {
        TurnExpression::read(&FileNumber::Text(text.into()), &["outer", "inner"])
    }

    #[test]
    fn expressions_have_the_value_of_their_turns() {
        for (text, value) in [
            ("7", 7),
            ("turn", 3),
            ("outer * 100 + inner", 503),
            ("(50 - turn + 15) / 16", 3),
            ("1 << turn", 8),
            ("2 * 1 << 2", 8),
            ("-3 - -4", 1),
            ("10 - 4 - 3", 3),
            ("100 / 7 % 4", 2),
            ("min(outer, turn) * max( 2 , 9 )", 27),
            ("256 >> outer", 8),
        ] {
            assert_eq!(read(text).expect(text).value(&[5, 3]), Some(value), "{text}");
        }
    }

    #[test]
    fn what_has_no_value_gives_none() {
        for text in ["1 / (turn - 3)", "9223372036854775807 + turn", "1 << 63", "7 % (outer - 5)"] {
            assert_eq!(read(text).expect(text).value(&[5, 3]), None, "{text}");
        }
    }

    #[test]
    fn mistakes_are_told_in_words() {
        for (text, says) in [
            ("", "expected a number, the turn of a loop, min, max or `(`, found the end"),
            ("3 +", "expected a number, the turn of a loop, min, max or `(`, found the end"),
            ("(3", "expected `)`, found the end"),
            ("min(3)", "expected `,`, found `)`"),
            ("3 4", "expected an operator, found `4`"),
            ("n + 1", "`n` is not known: there are turn, outer, inner"),
            ("99999999999999999999", "`99999999999999999999` is not an integer"),
            (&"(".repeat(100), "it is nested more than 64 deep"),
            (&"1+".repeat(100), "more than 64 operators in a row"),
        ] {
            assert_eq!(read(text).expect_err(text), says, "{text}");
        }
        let outside = TurnExpression::read(&FileNumber::Text("turn".into()), &[]).expect_err("refused");
        assert_eq!(outside, "`turn` is not known: it is in no loop");
    }
}
