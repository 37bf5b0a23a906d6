//! The labelled fields of a document. In JSON an object whose keys are the labels, in the order of the page.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::typed::Typed;

/// Labels with their values, in the order of the page; each label once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    pairs: Vec<(String, String)>,
    /// Labels that a person gave. Not written with the rest.
    said: Vec<String>,
}

impl Meta {
    /// Adds a field, unless its label is there already.
    pub fn add(&mut self, label: String, value: String) {
        if self.get(&label).is_none() {
            self.pairs.push((label, value));
        }
    }

    /// Gives a field that a person named this value, whatever it had.
    pub fn set_said(&mut self, label: String, value: String) {
        self.pairs.retain(|pair| pair.0 != label);
        self.said.push(label.clone());
        self.pairs.push((label, value));
    }

    /// Labels and values that somebody asked for: they make the page a changed one. The others count visitors on many pages.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        let said = self
            .iter()
            .filter(|(label, _)| self.said.iter().any(|said| said == label));
        said.flat_map(|(label, value)| [label, value])
    }

    /// The value of a label.
    pub fn get(&self, label: &str) -> Option<&str> {
        self.iter().find(|pair| pair.0 == label).map(|pair| pair.1)
    }

    /// Labels and values.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.pairs
    }

    /// Labels and values as texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs
            .iter()
            .map(|(label, value)| (label.as_str(), value.as_str()))
    }

    /// The fields whose values are plainly more than texts.
    pub fn typed(&self) -> TypedFields {
        let typed = self
            .iter()
            .filter_map(|(label, value)| Some((label.to_owned(), Typed::of(value)?)));
        TypedFields(typed.collect())
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.pairs
            .iter_mut()
            .flat_map(|(label, value)| [label, value])
    }
}

/// Labels with values of a type, in the order of the page. In JSON an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypedFields(pub Vec<(String, Typed)>);

impl TypedFields {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for TypedFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(label, typed)| (label, typed)))
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Meta;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object of labels and values")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Meta, M::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Meta {
            pairs: fields,
            said: Vec::new(),
        })
    }
}
