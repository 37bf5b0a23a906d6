//! JSON of which little is kept. In: JSON. Out: the values under the names that are asked for, texts borrowed. The rest is
//! read, so that what is broken is told, and forgotten.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The names that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
pub(crate) enum Key {
    #[serde(rename = "@type")]
    Type,
    #[serde(rename = "@graph")]
    Graph,
    #[serde(rename = "@list")]
    List,
    MainEntity,
    MainEntityOfPage,
    ItemListElement,
    HasPart,
    Headline,
    Name,
    DatePublished,
    DateCreated,
    UploadDate,
    DateModified,
    ArticleBody,
    Author,
    Creator,
    Publisher,
    #[serde(other)]
    Other,
}

/// A value.
#[derive(Debug)]
pub(crate) enum Json<'a> {
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Object<'a>),
    /// A number, a truth value or nothing.
    Other,
}

impl Json<'_> {
    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Values by name.
#[derive(Debug, Default)]
pub(crate) struct Object<'a>(Vec<(Key, Json<'a>)>);

impl<'a> Object<'a> {
    /// The value of a name; of several the last counts.
    pub(crate) fn get(&self, key: Key) -> Option<&Json<'a>> {
        let found = self.0.iter().rfind(|(known, _)| *known == key);
        found.map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Kept)
    }
}

/// Keeps a value.
struct Kept;

impl<'de> Visitor<'de> for Kept {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json<'de>, E> {
        Ok(Json::Other)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json<'de>, E> {
        Ok(Json::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Json<'de>, E> {
        Ok(Json::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json<'de>, E> {
        Ok(Json::Other)
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Other)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::Text(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
        Ok(Json::Text(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Json::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json<'de>, A::Error> {
        let mut object = Object::default();
        while let Some(key) = entries.next_key()? {
            match key {
                Key::Other => {
                    entries.next_value::<Forgotten>()?;
                }
                key => object.0.push((key, entries.next_value()?)),
            }
        }
        Ok(Json::Object(object))
    }
}

/// A value that is read like any other, and not kept.
struct Forgotten;

impl<'de> Deserialize<'de> for Forgotten {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Forgotten {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_key::<Self>()?.is_some() {
            entries.next_value::<Self>()?;
        }
        Ok(self)
    }
}
