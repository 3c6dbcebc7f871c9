//! Reads in place: `self.a.val()` becomes a place expression, so that reading a part of a signal copies only that part.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::spanned::Spanned;

/// Returns the code of a body with every `self.a.val()` replaced by `*Readable::held(&self.a)`.
pub fn in_place(code: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let mut out: Vec<TokenTree> = vec![];
    // Start of the current path, such as `self.a[i].b`, in `out`.
    let mut path = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let (Some(start), true) = (path, is_value(&tokens[at..])) {
            let signal: TokenStream = out.drain(start..).collect();
            out.extend(
                quote_spanned!(place(&signal)=> (*::selvedge_hw::rtl::circuit::Readable::held(&#signal))),
            );
            path = None;
            at += 3;
            continue;
        }
        path = match token {
            TokenTree::Ident(me) if me == "self" => Some(out.len()),
            TokenTree::Punct(punct) if punct.as_char() != '.' => None,
            TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket => None,
            TokenTree::Literal(_) => None,
            _ => path,
        };
        out.push(match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), in_place(group.stream()));
                inner.set_span(group.span());
                inner.into()
            }
            token => token.clone(),
        });
        at += 1;
    }
    out.into_iter().collect()
}

/// Returns the place of `code`, for errors in generated code. Lints see that the code is generated.
pub fn place(code: &impl Spanned) -> Span {
    Span::call_site().located_at(code.span())
}

/// Returns whether the tokens begin with `.val()`.
fn is_value(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(dot), TokenTree::Ident(method), TokenTree::Group(arguments), ..] = tokens else {
        return false;
    };
    dot.as_char() == '.' && method == "val" && arguments.stream().is_empty()
}
