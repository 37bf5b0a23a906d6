//! The attributes that are kept. In: the bytes of a name as the page spells it. Out: an [`Attr`], or nothing for
//! the many that no stage asks for.

/// An attribute that is kept while parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the HTML attribute of that name")]
#[repr(u8)]
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
    DataOriginal,
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

impl Attr {
    /// The attribute of a name in any case, if it is one that is kept.
    pub fn from_name(name: &[u8]) -> Option<Attr> {
        let mut lower = [0u8; 13];
        let lower = lower.get_mut(..name.len())?;
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        Some(match &*lower {
            b"id" => Attr::Id,
            b"class" => Attr::Class,
            b"name" => Attr::Name,
            b"property" => Attr::Property,
            b"itemprop" => Attr::Itemprop,
            b"content" => Attr::Content,
            b"http-equiv" => Attr::HttpEquiv,
            b"charset" => Attr::Charset,
            b"href" => Attr::Href,
            b"src" => Attr::Src,
            b"data-src" => Attr::DataSrc,
            b"data-original" => Attr::DataOriginal,
            b"alt" => Attr::Alt,
            b"title" => Attr::Title,
            b"rel" => Attr::Rel,
            b"type" => Attr::Type,
            b"datetime" => Attr::Datetime,
            b"style" => Attr::Style,
            b"hidden" => Attr::Hidden,
            b"role" => Attr::Role,
            b"aria-hidden" => Attr::AriaHidden,
            b"lang" | b"xml:lang" => Attr::Lang,
            _ => return None,
        })
    }
}
