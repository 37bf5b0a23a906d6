//! What an article is about, and the sentences of each genre: our own, written for this purpose.
//!
//! A file of `data/articles` has up to five sections, one sentence a line. Order and number decide which one a seed draws.
//!
//! | section | holds |
//! |---|---|
//! | `[titles]` | headlines; the number before each is that of the lead that tells the same story, counted from 0 |
//! | `[leads]` | first sentences: who, what, where |
//! | `[facts]` | particulars, each used once an article; in a notice in the order of the law |
//! | `[quotes]` | what somebody says; in an interview the questions, each answered by the fact of the same number |
//! | `[closings]` | last sentences |

use std::sync::LazyLock;

use super::tables::Tables;

/// What an article is about, and so what it sounds like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Genre {
    /// A well's result, a discovery.
    Drilling,
    /// Shale gas and its horizontal wells.
    Shale,
    /// Platforms and subsea work.
    Offshore,
    /// Long-distance pipelines.
    Pipeline,
    /// LNG terminals, ships and imports.
    Lng,
    /// Underground gas storage.
    Storage,
    /// Prices, supply and demand.
    Market,
    /// Refining and petrochemicals.
    Refinery,
    /// Safety drills, hazards removed.
    Safety,
    /// A notice of an authority.
    Policy,
    /// Questions and answers with an expert.
    Interview,
    /// Carbon capture, new energy in the oil field.
    Carbon,
    /// Field technology and the digital oil field.
    Technology,
    /// A day of the people on site.
    Frontline,
    /// A blogger's thoughts on pipelines.
    Essay,
    /// A question about a plant, asked in a forum.
    PlantQuestion,
    /// A question about a well, asked in a forum.
    WellQuestion,
    /// A photograph and one sentence.
    Picture,
}

/// The sentences of one genre; the module's table says what each section holds.
pub(crate) struct Phrases {
    /// Headlines, each with the index of its lead.
    pub(crate) titles: Vec<(&'static str, usize)>,
    tables: Tables,
}

impl Genre {
    /// All of them, in the order of their declaration.
    pub(crate) const ALL: [Self; 18] = [
        Self::Drilling,
        Self::Shale,
        Self::Offshore,
        Self::Pipeline,
        Self::Lng,
        Self::Storage,
        Self::Market,
        Self::Refinery,
        Self::Safety,
        Self::Policy,
        Self::Interview,
        Self::Carbon,
        Self::Technology,
        Self::Frontline,
        Self::Essay,
        Self::PlantQuestion,
        Self::WellQuestion,
        Self::Picture,
    ];

    /// The genre's sentences.
    pub(crate) fn phrases(self) -> &'static Phrases {
        static PHRASES: LazyLock<[Phrases; Genre::ALL.len()]> =
            LazyLock::new(|| Genre::ALL.map(|genre| Phrases::read(genre.text())));
        &PHRASES[self as usize]
    }

    /// Whether a dateline stands before the first sentence.
    pub(crate) fn has_dateline(self) -> bool {
        !matches!(
            self,
            Self::Policy | Self::Essay | Self::PlantQuestion | Self::WellQuestion | Self::Picture
        )
    }

    /// The text of its file.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Drilling => include_str!("../data/articles/drilling.txt"),
            Self::Shale => include_str!("../data/articles/shale.txt"),
            Self::Offshore => include_str!("../data/articles/offshore.txt"),
            Self::Pipeline => include_str!("../data/articles/pipeline.txt"),
            Self::Lng => include_str!("../data/articles/lng.txt"),
            Self::Storage => include_str!("../data/articles/storage.txt"),
            Self::Market => include_str!("../data/articles/market.txt"),
            Self::Refinery => include_str!("../data/articles/refinery.txt"),
            Self::Safety => include_str!("../data/articles/safety.txt"),
            Self::Policy => include_str!("../data/articles/policy.txt"),
            Self::Interview => include_str!("../data/articles/interview.txt"),
            Self::Carbon => include_str!("../data/articles/carbon.txt"),
            Self::Technology => include_str!("../data/articles/technology.txt"),
            Self::Frontline => include_str!("../data/articles/frontline.txt"),
            Self::Essay => include_str!("../data/articles/essay.txt"),
            Self::PlantQuestion => include_str!("../data/articles/plant_question.txt"),
            Self::WellQuestion => include_str!("../data/articles/well_question.txt"),
            Self::Picture => include_str!("../data/articles/picture.txt"),
        }
    }
}

impl Phrases {
    fn read(text: &'static str) -> Self {
        let tables = Tables::read(text);
        let title = |line: &&'static str| {
            let (lead, title) = line.split_once(' ')?;
            Some((title, lead.parse().ok()?))
        };
        Self {
            titles: tables.section("titles").iter().filter_map(title).collect(),
            tables,
        }
    }

    /// First sentences.
    pub(crate) fn leads(&self) -> &[&'static str] {
        self.tables.section("leads")
    }

    /// Particulars.
    pub(crate) fn facts(&self) -> &[&'static str] {
        self.tables.section("facts")
    }

    /// What somebody says.
    pub(crate) fn quotes(&self) -> &[&'static str] {
        self.tables.section("quotes")
    }

    /// Last sentences.
    pub(crate) fn closings(&self) -> &[&'static str] {
        self.tables.section("closings")
    }
}
