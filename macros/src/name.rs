//! Writes paths and indices as text: `self.unit[i + 1].sum.next` is `unit[i+1]$sum$next`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Error, Result};

/// Names that rust-hdl refuses because they are Verilog keywords.
const RESERVED: [&str; 3] = ["config", "input", "output"];

/// Returns the text of `code` without blanks and `self.`, with `$` for `.` and `::`.
pub fn name(code: &impl ToTokens) -> Result<String> {
    let tokens = code.to_token_stream();
    let mut text = String::new();
    write(tokens.clone(), &mut text);
    if RESERVED.contains(&text.as_str()) {
        return Err(Error::new_spanned(
            tokens,
            format!("`{text}` is a word of Verilog; name the signal otherwise"),
        ));
    }
    Ok(text)
}

fn write(tokens: TokenStream, text: &mut String) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_next = |tokens: &mut std::iter::Peekable<_>, wanted| matches!(tokens.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
        match token {
            TokenTree::Ident(ident) if ident == "self" && is_next(&mut tokens, '.') => {
                tokens.next();
            }
            TokenTree::Punct(punct) if punct.as_char() == '.' => text.push('$'),
            TokenTree::Punct(punct) if punct.as_char() == ':' && is_next(&mut tokens, ':') => {
                tokens.next();
                text.push('$');
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                write(group.stream(), text);
                text.push_str(close);
            }
            other => text.push_str(&other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::name;
    use quote::quote;

    #[test]
    fn paths_lose_self_and_blanks() {
        let of = |tokens| name(&tokens).unwrap();
        assert_eq!(of(quote!(self.count)), "count");
        assert_eq!(of(quote!(self.unit[i + 1].sum.next)), "unit[i+1]$sum$next");
        assert_eq!(of(quote!(self.table[self.key.val().index()])), "table[key$val()$index()]");
        assert_eq!(of(quote!(Mode::Idle)), "Mode$Idle");
        assert_eq!(of(quote!(self.a[(g * 4 + w) * 32])), "a[(g*4+w)*32]");
        assert_eq!(of(quote!(self.myself.count)), "myself$count");
    }

    #[test]
    fn words_of_verilog_are_refused() {
        for word in [quote!(self.config), quote!(self.input), quote!(self.output)] {
            assert!(name(&word).unwrap_err().to_string().contains("is a word of Verilog"));
        }
        assert_eq!(name(&quote!(self.input_o)).unwrap(), "input_o");
    }
}
