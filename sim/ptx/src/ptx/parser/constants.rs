//! Evaluates constant expressions.

use super::super::lexer::Token;
use super::{MAX_DEPTH, PtxParser, Result};

impl PtxParser<'_> {
    pub(super) fn constant(&mut self, depth: usize) -> Result<i128> {
        self.binary(0, depth)
    }

    pub(super) fn binary(&mut self, lowest: u8, depth: usize) -> Result<i128> {
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

    /// Returns the binary operator at the token, and its precedence. A single '<' or '>' is no operator, so that the
    /// count of `%r<4>` ends there.
    pub(super) fn operator(&self) -> Option<(char, u8)> {
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

    pub(super) fn apply(&self, operator: char, left: i128, right: i128) -> Result<i128> {
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
        // 64-bit arithmetic wraps, but values in the range of a signed or an unsigned 64-bit word stay as written.
        value
            .map(|v| if (-(1 << 63)..1 << 64).contains(&v) { v } else { i128::from(v as i64) })
            .ok_or_else(|| self.error("the constant expression divides by zero or overflows"))
    }

    pub(super) fn unary(&mut self, depth: usize) -> Result<i128> {
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
                // A cast such as `(.s64)` has no effect: values are exact.
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
