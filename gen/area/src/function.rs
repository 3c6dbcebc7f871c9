//! Evaluates functions of liberty cells, so that a study can recognize inverters and NAND gates.

/// Returns the truth table of a liberty function over `pins`. Bit `i` is the value of the function when pin number `p` has
/// bit `p` of `i`. Returns `None` for more than four pins, for unknown names, and for invalid syntax.
pub fn truth_table(function: &str, pins: &[&str]) -> Option<u16> {
    if pins.len() > 4 {
        return None;
    }
    let tokens = tokens(function);
    let mut table = 0;
    for values in 0..1u16 << pins.len() {
        let mut parser = FunctionParser { tokens: &tokens, pins, values };
        let value = parser.or()?;
        if !parser.tokens.is_empty() {
            return None;
        }
        table |= u16::from(value) << values;
    }
    Some(table)
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_name = false;
    for c in text.chars() {
        let is_name = c.is_alphanumeric() || c == '_';
        match (is_name, in_name) {
            (true, true) => tokens.last_mut().expect("a name has begun").push(c),
            _ if !c.is_whitespace() => tokens.push(c.to_string()),
            _ => {}
        }
        in_name = is_name;
    }
    tokens
}

struct FunctionParser<'a> {
    tokens: &'a [String],
    pins: &'a [&'a str],
    values: u16,
}

impl FunctionParser<'_> {
    fn next_is(&mut self, any: &[&str]) -> bool {
        let found = self.tokens.first().is_some_and(|token| any.contains(&token.as_str()));
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn or(&mut self) -> Option<bool> {
        let mut value = self.and()?;
        while self.next_is(&["+", "|"]) {
            value |= self.and()?;
        }
        Some(value)
    }

    /// Parses a product. Adjacent names are multiplied.
    fn and(&mut self) -> Option<bool> {
        let mut value = self.xor()?;
        loop {
            let explicit = self.next_is(&["*", "&"]);
            let implicit =
                self.tokens.first().is_some_and(|token| !["+", "|", ")", "^", "'"].contains(&token.as_str()));
            if !explicit && !implicit {
                return Some(value);
            }
            value &= self.xor()?;
        }
    }

    fn xor(&mut self) -> Option<bool> {
        let mut value = self.one()?;
        while self.next_is(&["^"]) {
            value ^= self.one()?;
        }
        Some(value)
    }

    fn one(&mut self) -> Option<bool> {
        let mut value = if self.next_is(&["!"]) {
            !self.one()?
        } else if self.next_is(&["("]) {
            let inner = self.or()?;
            self.next_is(&[")"]).then_some(inner)?
        } else {
            let (name, rest) = self.tokens.split_first()?;
            self.tokens = rest;
            let pin = self.pins.iter().position(|pin| pin == name)?;
            self.values >> pin & 1 != 0
        };
        while self.next_is(&["'"]) {
            value = !value;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nand_is_known_however_it_is_written() {
        for text in ["(!(A B))", "!(A & B)", "(A*B)'", "(!A) | (!B)", "A' + B'"] {
            assert_eq!(truth_table(text, &["A", "B"]), Some(0b0111), "{text}");
        }
        assert_eq!(truth_table("A ^ B", &["A", "B"]), Some(0b0110));
        assert_eq!(truth_table("(!A)", &["A"]), Some(0b01));
        for text in ["A &", "(A", "A B)", "C", ""] {
            assert_eq!(truth_table(text, &["A", "B"]), None, "{text}");
        }
    }
}
