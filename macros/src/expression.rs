//! Translates expressions into data: constructors of `selvedge_hw::rtl::source::Expression`.

use crate::name::name;
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{
    BinOp, Error, Expr, ExprBinary, ExprCall, ExprField, ExprMethodCall, GenericArgument, Lit, LitInt,
    Member, PathArguments, Result, Token, UnOp,
};

/// The elements of the array of values: the numbers of a body that depend on the block's parameters.
#[derive(Default)]
pub struct BodyValues {
    known: Vec<String>,
    /// Rust expressions of type `usize`.
    pub code: Vec<TokenStream>,
}

impl BodyValues {
    /// Returns the index of `code` in the array, and appends it if it is not there yet.
    pub fn place(&mut self, code: TokenStream) -> usize {
        let text = code.to_string();
        self.known.iter().position(|known| *known == text).unwrap_or_else(|| {
            self.known.push(text);
            self.code.push(code);
            self.code.len() - 1
        })
    }

    /// Returns a number of type `usize`: a literal by its value, other code by its index in the array.
    fn number(&mut self, code: &impl ToTokens) -> Result<TokenStream> {
        let tokens = code.to_token_stream();
        if let Ok(literal) = syn::parse2::<LitInt>(tokens.clone()) {
            let number: usize = literal.base10_parse()?;
            return Ok(quote!(WidthSource::Known(#number)));
        }
        let place = self.place(tokens);
        Ok(quote!(WidthSource::Value(#place)))
    }
}

/// Returns the value of an integer or `bool` literal, with the width of its Rust type.
pub fn literal(literal: &Lit) -> Result<TokenStream> {
    let (value, bits): (u128, u8) = match literal {
        Lit::Bool(switch) => (u128::from(switch.value), 1),
        Lit::Int(number) => {
            let bits = match number.suffix() {
                "" | "i32" => 31,
                "u8" => 8,
                "u16" => 16,
                "u32" => 32,
                "u64" | "usize" => 64,
                "u128" => 128,
                _ => {
                    return Err(Error::new(
                        number.span(),
                        "allowed suffixes are i32, u8, u16, u32, u64, u128, usize",
                    ));
                }
            };
            let value: u128 = number.base10_parse()?;
            if bits < 128 && value >> bits != 0 {
                let hint =
                    if bits == 31 { "; write `u64` behind it if it is wider than 31 bits" } else { "" };
                return Err(Error::new(
                    number.span(),
                    format!("the number does not fit into its type{hint}"),
                ));
            }
            (value, if bits == 31 { 32 } else { bits })
        }
        _ => return Err(Error::new(literal.span(), "a body's constants are integers, `true` and `false`")),
    };
    Ok(quote!(Literal { value: #value, bits: #bits }))
}

/// Returns the expression as data.
pub fn expression(expr: &Expr, values: &mut BodyValues) -> Result<TokenStream> {
    let attributes = match expr {
        Expr::Binary(binary) => &binary.attrs,
        Expr::Call(call) => &call.attrs,
        Expr::MethodCall(call) => &call.attrs,
        Expr::Paren(paren) => &paren.attrs,
        Expr::Unary(unary) => &unary.attrs,
        _ => &vec![],
    };
    if let Some(attribute) = attributes.first() {
        return Err(Error::new_spanned(attribute, "an attribute has no meaning in hardware"));
    }
    match expr {
        Expr::Lit(constant) => {
            let literal = literal(&constant.lit)?;
            Ok(quote!(Expression::Literal(#literal)))
        }
        Expr::Path(_) | Expr::Index(_) => signal(expr),
        Expr::Field(field) => field_of(field, values),
        // An invisible group wraps a `$x:expr` of a macro. The group binds like parentheses.
        Expr::Group(group) => wrapped(quote!(Paren), &group.expr, values),
        Expr::Paren(paren) => wrapped(quote!(Paren), &paren.expr, values),
        Expr::Unary(unary) => {
            let operator = match unary.op {
                UnOp::Not(_) => quote!(Not),
                UnOp::Neg(_) => quote!(Neg),
                _ => return Err(Error::new_spanned(unary, "`*` has no meaning in hardware")),
            };
            reduced(operator, &unary.expr, values)
        }
        Expr::Binary(binary) => operation(binary, values),
        Expr::Call(call) => cast(call, values),
        Expr::MethodCall(call) => method(call, values),
        Expr::Let(_) => {
            Err(Error::new_spanned(expr, "`if let` has no meaning in hardware; compare with `==`"))
        }
        Expr::If(_) | Expr::Match(_) => Err(Error::new_spanned(
            expr,
            "`if` and `match` are statements in a block's body; assign to a `Local` in each branch",
        )),
        Expr::Cast(_) => Err(Error::new_spanned(expr, "`as` has no meaning in hardware; use `bit_cast`")),
        _ => Err(Error::new_spanned(expr, "this expression has no meaning in hardware")),
    }
}

/// Returns a signal, constant or loop variable by name.
fn signal(expr: &Expr) -> Result<TokenStream> {
    let name = name(expr)?;
    Ok(quote!(Expression::Signal(#name)))
}

/// Returns `variant(expr)`.
fn wrapped(variant: TokenStream, expr: &Expr, values: &mut BodyValues) -> Result<TokenStream> {
    let inner = expression(expr, values)?;
    Ok(quote!(Expression::#variant(&#inner)))
}

/// Returns an operator with one operand.
fn reduced(operator: TokenStream, expr: &Expr, values: &mut BodyValues) -> Result<TokenStream> {
    let inner = expression(expr, values)?;
    Ok(quote!(Expression::Unary(VerilogOpUnary::#operator, &#inner)))
}

fn is_val(expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(call) if call.method == "val")
}

/// Returns whether `expr` is `self`. A signal may be named `next`: `self.next` is that signal.
fn is_self(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("self"))
}

/// Returns `signal.val().field` of a `LogicStruct`, or a path that ends in a field.
fn field_of(field: &ExprField, values: &mut BodyValues) -> Result<TokenStream> {
    if is_val(&field.base) {
        let base = &field.base;
        let whole = expression(base, values)?;
        let (width, offset) = field_place(base, &field.member, values)?;
        return Ok(
            quote!(Expression::Slice(&#whole, WidthSource::Value(#width), &Expression::Value(#offset))),
        );
    }
    if matches!(&field.member, Member::Named(member) if member == "next") && !is_self(&field.base) {
        return Err(Error::new_spanned(field, "read a signal by `.val()`; `.next` is what it will be"));
    }
    signal(&Expr::Field(field.clone()))
}

/// Returns the indices of width and offset of a `LogicStruct` field among the values.
pub fn field_place(base: &Expr, member: &Member, values: &mut BodyValues) -> Result<(usize, usize)> {
    let Member::Named(member) = member else {
        return Err(Error::new_spanned(member, "fields of a `LogicStruct` have names"));
    };
    let width = format_ident!("get_my_width_{}", member, span = member.span());
    let offset = format_ident!("get_my_offset_{}", member, span = member.span());
    Ok((values.place(quote!(#base.#width())), values.place(quote!(#base.#offset()))))
}

fn operation(binary: &ExprBinary, values: &mut BodyValues) -> Result<TokenStream> {
    let operator = match binary.op {
        BinOp::Add(_) => quote!(Add),
        BinOp::Sub(_) => quote!(Sub),
        BinOp::Mul(_) => quote!(Mul),
        BinOp::And(_) => quote!(LogicalAnd),
        BinOp::Or(_) => quote!(LogicalOr),
        BinOp::BitAnd(_) => quote!(BitAnd),
        BinOp::BitOr(_) => quote!(BitOr),
        BinOp::BitXor(_) => quote!(BitXor),
        BinOp::Shl(_) => quote!(Shl),
        BinOp::Shr(_) => quote!(Shr),
        BinOp::Eq(_) => quote!(Eq),
        BinOp::Ne(_) => quote!(Ne),
        BinOp::Lt(_) => quote!(Lt),
        BinOp::Le(_) => quote!(Le),
        BinOp::Gt(_) => quote!(Gt),
        BinOp::Ge(_) => quote!(Ge),
        _ => {
            return Err(Error::new_spanned(
                binary.op,
                "this operator has no meaning in hardware; must be + - * & | ^ && || << >> == != < <= > >=",
            ));
        }
    };
    let (left, right) = (expression(&binary.left, values)?, expression(&binary.right, values)?);
    Ok(quote!(Expression::Binary(&#left, VerilogOp::#operator, &#right)))
}

/// Returns the only argument.
fn only<'a>(arguments: &'a Punctuated<Expr, Token![,]>, of: &impl ToTokens) -> Result<&'a Expr> {
    match arguments.first() {
        Some(argument) if arguments.len() == 1 => Ok(argument),
        _ => Err(Error::new_spanned(of, "takes one argument")),
    }
}

fn cast(call: &ExprCall, values: &mut BodyValues) -> Result<TokenStream> {
    const ALLOWED: &str = "the only functions in a block's body are `bit_cast::<M, N>`, `bit_cast_to::<T>`, \
        `signed_cast`, `signed_bit_cast` and `unsigned_cast`; anything else would need a block of its own";
    let Expr::Path(path) = &*call.func else { return Err(Error::new_spanned(&call.func, ALLOWED)) };
    let Some(function) = path.path.segments.last() else {
        return Err(Error::new_spanned(&call.func, ALLOWED));
    };
    let function_name = function.ident.to_string();
    match function_name.as_str() {
        "unsigned_cast" => return wrapped(quote!(Unsigned), only(&call.args, call)?, values),
        "signed_cast" | "signed_bit_cast" => return wrapped(quote!(Signed), only(&call.args, call)?, values),
        name if name.starts_with("bit_cast") => {}
        _ => return Err(Error::new_spanned(&call.func, ALLOWED)),
    }
    let inner = expression(only(&call.args, call)?, values)?;
    let target = match &function.arguments {
        PathArguments::AngleBracketed(arguments) => arguments.args.first(),
        _ => None,
    };
    let Some(target) = target else {
        return Err(Error::new_spanned(
            &call.func,
            "write the width: `bit_cast::<TO, FROM>(value)` or `bit_cast_to::<T>(value)`",
        ));
    };
    let width = if function_name == "bit_cast_to" {
        values.number(&quote!(<#target as ::selvedge_hw::rtl::source::Synth>::BITS))?
    } else {
        width(target, values)?
    };
    Ok(quote!(Expression::Cast(&#inner, #width)))
}

/// Returns a const generic argument: `8`, `N`, `{ N + 1 }`.
fn width(argument: &GenericArgument, values: &mut BodyValues) -> Result<TokenStream> {
    match argument {
        GenericArgument::Const(code) => values.number(code),
        // The parser takes a single name here for a type.
        GenericArgument::Type(syn::Type::Path(code)) => values.number(code),
        _ => Err(Error::new_spanned(argument, "the width is a number, a name or `{ ... }`")),
    }
}

fn method(call: &ExprMethodCall, values: &mut BodyValues) -> Result<TokenStream> {
    let method_name = call.method.to_string();
    let count = match method_name.as_str() {
        "val" | "into" | "index" | "to_bits" | "to_signed_bits" | "any" | "all" | "xor" => 0,
        "get_bit" | "get_bits" => 1,
        "replace_bit" => 2,
        _ => {
            return Err(Error::new(
                call.method.span(),
                format!(
                    "`{method_name}` has no meaning in hardware; must be val, get_bit, get_bits, replace_bit, any, all, \
                     xor, into, index, to_bits, to_signed_bits"
                ),
            ));
        }
    };
    if call.args.len() != count {
        return Err(Error::new_spanned(call, format!("`{method_name}` takes {count} arguments")));
    }
    let value = &call.receiver;
    match method_name.as_str() {
        "any" => return reduced(quote!(Any), value, values),
        "all" => return reduced(quote!(All), value, values),
        "xor" => return reduced(quote!(Xor), value, values),
        "to_signed_bits" => return wrapped(quote!(Signed), value, values),
        _ => {}
    }
    let value = expression(value, values)?;
    let arguments = call.args.iter().map(|argument| expression(argument, values));
    let arguments = arguments.collect::<Result<Vec<_>>>()?;
    match (method_name.as_str(), &arguments[..]) {
        ("get_bit", [at]) => Ok(quote!(Expression::Bit(&#value, &#at))),
        ("get_bits", [at]) => {
            let width = match call.turbofish.as_ref().and_then(|turbofish| turbofish.args.first()) {
                Some(argument) => width(argument, values)?,
                None => {
                    let hint = "write the width: `get_bits::<N>(i)`";
                    return Err(Error::new(call.method.span(), hint));
                }
            };
            Ok(quote!(Expression::Slice(&#value, #width, &#at)))
        }
        ("replace_bit", [at, field]) => Ok(quote!(Expression::Replace(&#value, &#at, &#field))),
        _ => Ok(value),
    }
}
