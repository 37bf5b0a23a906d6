//! Element and attribute names as small numbers.

/// An element name. Known HTML names have constants; every other name is [`Tag::OTHER`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u16);

impl Tag {
    /// A text node.
    pub const TEXT: Tag = Tag(0);
    /// An element whose name is not in the table.
    pub const OTHER: Tag = Tag(1);
}

/// An attribute that is kept while parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the HTML attribute of that name")]
pub enum Attr {
    Id,
    Class,
    Name,
    Property,
    Itemprop,
    Content,
    HttpEquiv,
    Charset,
    Href,
    Src,
    DataSrc,
    Alt,
    Title,
    Rel,
    Type,
    Datetime,
    Style,
    Hidden,
    Role,
    AriaHidden,
    Lang,
}
