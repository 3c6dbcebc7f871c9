//! Writes the short forms of a body as assignments: `drive!` and `self.a.next[i] = value`. All other passes see only these.

use crate::body::no_attributes;
use crate::read::place;
use proc_macro2::{Ident, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Block, Error, Expr, ExprAssign, ExprIndex, Lit, Macro, Member, Result, Stmt, Token};

/// `drive!(self.part; a_i, b_i: c, d_i: 0)`
struct Drive {
    /// `self.part`, or `self` for signals of the block itself.
    part: Expr,
    entries: Punctuated<DriveEntry, Token![,]>,
}

/// An entry of `drive!`.
struct DriveEntry {
    /// The signal that is driven, without `self.part.`; `None` if it has the name of the source.
    target: Option<Expr>,
    /// A signal without its `self.`, a number, `true`, `false` or the path of a constant.
    source: Expr,
}

impl Parse for Drive {
    fn parse(input: ParseStream) -> Result<Self> {
        let part = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Drive { part, entries: input.parse_terminated(DriveEntry::parse, Token![,])? })
    }
}

impl Parse for DriveEntry {
    fn parse(input: ParseStream) -> Result<Self> {
        let first = input.parse()?;
        if input.parse::<Option<Token![:]>>()?.is_none() {
            return Ok(DriveEntry { target: None, source: first });
        }
        Ok(DriveEntry { target: Some(first), source: input.parse()? })
    }
}

/// Returns the body. Assignments replace the short forms.
///
/// # Errors
/// The combined errors of all short forms that are malformed.
pub fn written_out(mut body: Block) -> Result<Block> {
    let mut errors = None;
    block(&mut body, &mut errors);
    errors.map_or(Ok(body), Err)
}

fn block(body: &mut Block, errors: &mut Option<Error>) {
    for mut statement in std::mem::take(&mut body.stmts) {
        let written = match &mut statement {
            Stmt::Macro(call) if call.mac.path.is_ident("drive") => {
                no_attributes(&call.attrs).and_then(|()| assignments(&call.mac))
            }
            Stmt::Expr(Expr::Assign(assignment), _) => match element(assignment) {
                Some((element, signal)) => {
                    replacement(element, signal, &assignment.right).map(|assignment| vec![assignment])
                }
                None => Ok(vec![statement]),
            },
            Stmt::Expr(expr, _) => {
                expression(expr, errors);
                Ok(vec![statement])
            }
            _ => Ok(vec![statement]),
        };
        match (written, &mut *errors) {
            (Ok(statements), _) => body.stmts.extend(statements),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), none) => *none = Some(error),
        }
    }
}

fn expression(expr: &mut Expr, errors: &mut Option<Error>) {
    match expr {
        Expr::If(branches) => {
            block(&mut branches.then_branch, errors);
            if let Some((_, otherwise)) = &mut branches.else_branch {
                expression(otherwise, errors);
            }
        }
        Expr::Match(choice) => choice.arms.iter_mut().for_each(|arm| expression(&mut arm.body, errors)),
        Expr::ForLoop(turns) => block(&mut turns.body, errors),
        Expr::Block(inner) => block(&mut inner.block, errors),
        _ => {}
    }
}

/// Returns the assignments of a `drive!`.
fn assignments(call: &Macro) -> Result<Vec<Stmt>> {
    let Drive { part, entries } = call.parse_body()?;
    let me = match part.to_token_stream().into_iter().next() {
        Some(TokenTree::Ident(me)) if me == "self" => me,
        _ => {
            return Err(Error::new_spanned(part, "`drive!` begins with `self` or a part of it: `self.a[i]`"));
        }
    };
    entries.iter().map(|entry| assignment(&me, &part, entry)).collect()
}

fn assignment(me: &Ident, part: &Expr, entry: &DriveEntry) -> Result<Stmt> {
    let DriveEntry { target, source } = entry;
    let target = match (target, source) {
        (Some(target), _) => target.to_token_stream(),
        (None, Expr::Path(path)) => path.to_token_stream(),
        (None, Expr::Field(field)) => field.member.to_token_stream(),
        _ => {
            return Err(Error::new_spanned(
                source,
                "write the name of the driven signal before it: `name: ...`",
            ));
        }
    };
    let span = place(source);
    let value = match source {
        Expr::Lit(constant) if matches!(constant.lit, Lit::Int(_)) => quote_spanned!(span=> #constant.into()),
        Expr::Lit(constant) => constant.to_token_stream(),
        Expr::Path(path) if path.path.segments.len() > 1 => path.to_token_stream(),
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => quote_spanned!(span=> #me.#source.val()),
        _ => {
            let allowed = "`drive!` takes signals and constants; assign an expression by `self.a.next = ...`";
            return Err(Error::new_spanned(source, allowed));
        }
    };
    syn::parse2(quote_spanned!(span=> #part.#target.next = #value;))
}

/// Returns the element in `self.a.next[i] = value`, and `self.a`.
fn element(assignment: &ExprAssign) -> Option<(&ExprIndex, &Expr)> {
    let Expr::Index(element) = &*assignment.left else { return None };
    let Expr::Field(next) = &*element.expr else { return None };
    let is_next = matches!(&next.member, Member::Named(member) if member == "next");
    let is_own = matches!(&*next.base, Expr::Path(me) if me.path.is_ident("self"));
    (is_next && !is_own).then_some((element, &*next.base))
}

/// Returns the assignment of a whole signal for that of some of its bits.
fn replacement(element: &ExprIndex, signal: &Expr, value: &Expr) -> Result<Stmt> {
    let (from, field) = match &*element.index {
        Expr::Range(range) => match (&range.start, &range.end) {
            (Some(from), None) => (&**from, quote!(_)),
            _ => return Err(Error::new_spanned(range, "write `[i..]`: the value has the number of bits")),
        },
        bit => (bit, quote_spanned!(place(&bit)=> bool)),
    };
    let span = place(element);
    syn::parse2(quote_spanned!(span=> #signal.next = #signal.val().replace_bit::<#field>(#from, #value);))
}
