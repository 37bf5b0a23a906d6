//! Enums whose members have a word of the program's own, for logs, counters and JSON, and a Chinese one for people. The words
//! are stable, the Chinese ones are not.

/// Declares an enum with a word for each member: `words! { pub enum Shape { Round => "round", Flat => "flat", } }`. A member
/// may have a Chinese word as well: `Round => "round" "圆"`. It gets `ALL`, `as_str`, `in_chinese`, `parse` and the word as its
/// JSON.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $member:ident $(= $code:literal)? => $word:literal $($chinese:literal)?,)+ }) => {
        $(#[$meta])*
        pub enum $name { $($(#[$doc])* $member $(= $code)?,)+ }

        impl $name {
            /// All members.
            pub const ALL: [$name; [$($name::$member),+].len()] = [$($name::$member),+];

            /// The word of this one.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$member => $word,)+ }
            }

            /// The same for a person who reads Chinese; the word itself where it has no Chinese one.
            pub fn in_chinese(self) -> &'static str {
                match self { $($name::$member => [$word, $($chinese)?][[$word, $($chinese)?].len() - 1],)+ }
            }

            /// The member of a word.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|member| member.as_str() == word)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
