//! The labelled fields of a document. In JSON an object whose keys are the labels, in the order of the page.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Labels with their values, in the order of the page; each label once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta(Vec<(String, String)>);

impl Meta {
    /// Adds a field, unless its label is there already.
    pub fn add(&mut self, label: String, value: String) {
        if self.get(&label).is_none() {
            self.0.push((label, value));
        }
    }

    /// The value of a label.
    pub fn get(&self, label: &str) -> Option<&str> {
        self.iter().find(|pair| pair.0 == label).map(|pair| pair.1)
    }

    /// Labels and values.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// Labels and values as texts.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(label, value)| (label.as_str(), value.as_str()))
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.0.iter_mut().flat_map(|(label, value)| [label, value])
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
        Ok(Meta(fields))
    }
}
