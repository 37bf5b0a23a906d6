//! Values on their way to PostgreSQL and back. In: what SQLite would take. Out: the same in the type that the statement
//! has at this place. A text of the web may hold a NUL, which PostgreSQL refuses: it becomes U+FFFD, since no page may stop
//! a commit.

use std::error::Error as StdError;

use bytes::{BufMut, BytesMut};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use super::Result;

/// A value of a statement.
#[derive(Debug)]
pub(super) struct Bound(pub(super) Value);

/// Values of a statement, to be kept until it is sent.
pub(super) fn bound(values: &[&dyn rusqlite::ToSql]) -> Result<Vec<Bound>> {
    values
        .iter()
        .map(|value| match value.to_sql()? {
            ToSqlOutput::Owned(value) => Ok(Bound(value)),
            ToSqlOutput::Borrowed(value) => Ok(Bound(value.try_into()?)),
            _ => Err(rusqlite::Error::InvalidQuery.into()),
        })
        .collect()
}

impl ToSql for Bound {
    fn to_sql(
        &self,
        ty: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match (&self.0, ty) {
            (Value::Null, _) => return Ok(IsNull::Yes),
            (Value::Integer(n), &Type::INT8) => out.put_i64(*n),
            (Value::Integer(n), &Type::INT4) => out.put_i32(i32::try_from(*n)?),
            (Value::Integer(n), &Type::BOOL) => out.put_u8(u8::from(*n != 0)),
            (Value::Real(x), &Type::FLOAT8) => out.put_f64(*x),
            (Value::Text(text), &Type::TEXT) if text.contains('\0') => {
                out.put_slice(text.replace('\0', "\u{fffd}").as_bytes());
            }
            (Value::Text(text), &Type::TEXT) => out.put_slice(text.as_bytes()),
            (Value::Blob(bytes), &Type::BYTEA) => out.put_slice(bytes),
            (value, ty) => {
                return Err(format!("{:?} where {ty} is expected", value.data_type()).into());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A value of an answer.
pub(super) struct Cell<'a>(pub(super) ValueRef<'a>);

impl<'a> FromSql<'a> for Cell<'a> {
    fn from_sql(
        ty: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Cell(match *ty {
            Type::INT8 => ValueRef::Integer(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => ValueRef::Integer(i32::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => ValueRef::Integer(raw.first().copied().unwrap_or_default().into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_be_bytes(raw.try_into()?)),
            Type::BYTEA => ValueRef::Blob(raw),
            Type::TEXT | Type::VARCHAR | Type::NAME => ValueRef::Text(raw),
            _ => return Err(format!("{ty} is no type of the store").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Cell(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
