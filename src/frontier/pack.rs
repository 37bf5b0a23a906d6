//! The filter of seen URLs as bytes. In: a value of serde made of structs, sequences, numbers and byte strings. Out:
//! its numbers in eight bytes each, little-endian, byte strings as they are, lengths before sequences. No text form
//! would do: JSON makes four bytes of each byte, and no binary format is among the dependencies.

use std::fmt;
use std::io::Write;

use serde::de::{self, DeserializeOwned, DeserializeSeed, SeqAccess, Visitor};
use serde::ser::{self, Impossible, Serialize};

/// A value that this form does not have, or bytes that are none of it.
#[derive(Debug)]
pub(super) struct PackError(String);

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PackError {}

impl ser::Error for PackError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        PackError(message.to_string())
    }
}

impl de::Error for PackError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        PackError(message.to_string())
    }
}

fn unsupported<T>(what: &str) -> Result<T, PackError> {
    Err(PackError(format!("{what} cannot be packed")))
}

/// Writes a value as bytes; never holds them all.
pub(super) fn write<T: Serialize>(value: &T, to: &mut dyn Write) -> Result<(), PackError> {
    value.serialize(&mut Packer(to))
}

/// Unpacks a value; all bytes must be used.
pub(super) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, PackError> {
    let mut unpacker = Unpacker(bytes);
    let value = T::deserialize(&mut unpacker)?;
    if unpacker.0.is_empty() {
        Ok(value)
    } else {
        Err(PackError("bytes left over".to_owned()))
    }
}

struct Packer<'a>(&'a mut dyn Write);

impl Packer<'_> {
    fn number(&mut self, value: u64) -> Result<(), PackError> {
        self.bytes(&value.to_le_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), PackError> {
        self.0
            .write_all(bytes)
            .map_err(|error| PackError(error.to_string()))
    }
}

type None = Impossible<(), PackError>;

impl ser::Serializer for &mut Packer<'_> {
    type Ok = ();
    type Error = PackError;
    type SerializeSeq = Self;
    type SerializeTuple = None;
    type SerializeTupleStruct = None;
    type SerializeTupleVariant = None;
    type SerializeMap = None;
    type SerializeStruct = Self;
    type SerializeStructVariant = None;

    fn serialize_u64(self, v: u64) -> Result<(), PackError> {
        self.number(v)
    }
    fn serialize_f64(self, v: f64) -> Result<(), PackError> {
        self.number(v.to_bits())
    }
    fn serialize_bytes(self, v: &[u8]) -> Result<(), PackError> {
        self.number(v.len() as u64)?;
        self.bytes(v)
    }
    fn serialize_seq(self, len: Option<usize>) -> Result<Self, PackError> {
        let Some(len) = len else {
            return unsupported("a sequence of unknown length");
        };
        self.number(len as u64)?;
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, PackError> {
        Ok(self)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), PackError> {
        value.serialize(self)
    }
    fn serialize_bool(self, _: bool) -> Result<(), PackError> {
        unsupported("bool")
    }
    fn serialize_i8(self, _: i8) -> Result<(), PackError> {
        unsupported("i8")
    }
    fn serialize_i16(self, _: i16) -> Result<(), PackError> {
        unsupported("i16")
    }
    fn serialize_i32(self, _: i32) -> Result<(), PackError> {
        unsupported("i32")
    }
    fn serialize_i64(self, _: i64) -> Result<(), PackError> {
        unsupported("i64")
    }
    fn serialize_u8(self, _: u8) -> Result<(), PackError> {
        unsupported("u8")
    }
    fn serialize_u16(self, _: u16) -> Result<(), PackError> {
        unsupported("u16")
    }
    fn serialize_u32(self, _: u32) -> Result<(), PackError> {
        unsupported("u32")
    }
    fn serialize_f32(self, _: f32) -> Result<(), PackError> {
        unsupported("f32")
    }
    fn serialize_char(self, _: char) -> Result<(), PackError> {
        unsupported("char")
    }
    fn serialize_str(self, _: &str) -> Result<(), PackError> {
        unsupported("text")
    }
    fn serialize_none(self) -> Result<(), PackError> {
        unsupported("an option")
    }
    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<(), PackError> {
        unsupported("an option")
    }
    fn serialize_unit(self) -> Result<(), PackError> {
        unsupported("unit")
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), PackError> {
        unsupported("unit")
    }
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), PackError> {
        unsupported("an enum")
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), PackError> {
        unsupported("an enum")
    }
    fn serialize_tuple(self, _: usize) -> Result<None, PackError> {
        unsupported("a tuple")
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<None, PackError> {
        unsupported("a tuple")
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<None, PackError> {
        unsupported("an enum")
    }
    fn serialize_map(self, _: Option<usize>) -> Result<None, PackError> {
        unsupported("a map")
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<None, PackError> {
        unsupported("an enum")
    }
}

impl ser::SerializeSeq for &mut Packer<'_> {
    type Ok = ();
    type Error = PackError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), PackError> {
        value.serialize(&mut **self)
    }
    fn end(self) -> Result<(), PackError> {
        Ok(())
    }
}

impl ser::SerializeStruct for &mut Packer<'_> {
    type Ok = ();
    type Error = PackError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        _: &'static str,
        value: &T,
    ) -> Result<(), PackError> {
        value.serialize(&mut **self)
    }
    fn end(self) -> Result<(), PackError> {
        Ok(())
    }
}

struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], PackError> {
        let (head, tail) = self
            .0
            .split_at_checked(len)
            .ok_or_else(|| PackError("too short".to_owned()))?;
        self.0 = tail;
        Ok(head)
    }

    fn number(&mut self) -> Result<u64, PackError> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(
            bytes.try_into().expect("eight bytes were taken"),
        ))
    }

    /// A length is never more than the bytes that are left.
    fn length(&mut self) -> Result<usize, PackError> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if length > self.0.len() {
            return Err(PackError("too short".to_owned()));
        }
        Ok(length)
    }
}

impl<'de> de::Deserializer<'de> for &mut Unpacker<'de> {
    type Error = PackError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, PackError> {
        unsupported("a value of unknown type")
    }
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PackError> {
        visitor.visit_u64(self.number()?)
    }
    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PackError> {
        visitor.visit_f64(f64::from_bits(self.number()?))
    }
    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PackError> {
        let length = self.length()?;
        visitor.visit_borrowed_bytes(self.take(length)?)
    }
    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PackError> {
        self.deserialize_bytes(visitor)
    }
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PackError> {
        let left = self.length()?;
        visitor.visit_seq(Elements { from: self, left })
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PackError> {
        let left = fields.len();
        visitor.visit_seq(Elements { from: self, left })
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, PackError> {
        visitor.visit_newtype_struct(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char str string option unit unit_struct tuple
        tuple_struct map enum identifier ignored_any
    }
}

struct Elements<'a, 'de> {
    from: &'a mut Unpacker<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = PackError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, PackError> {
        if self.left == 0 {
            return Ok(Option::None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.from).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.min(1 << 16))
    }
}
