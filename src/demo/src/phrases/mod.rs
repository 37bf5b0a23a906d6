//! What the sample world has to say: phrases with slots, by genre. Our own sentences, written for this purpose.

mod forum;
mod gas;
mod ground;
mod market;
mod people;
mod plant;
mod public;
mod shared;

pub(super) use forum::{PLANT_REPLIES, WELL_REPLIES};
pub(super) use shared::{ASIDES, REMARKS};

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
    /// Safety, drills, hazards mended.
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
    /// A question about a plant, put to a forum.
    PlantQuestion,
    /// A question about a well, put to a forum.
    WellQuestion,
    /// A photograph and one sentence.
    Picture,
}

/// The phrases of one genre.
pub(super) struct Phrases {
    /// Headlines, each with the index of the lead that tells the same story.
    pub(super) titles: &'static [(&'static str, usize)],
    /// First sentences: who, what, where.
    pub(super) leads: &'static [&'static str],
    /// Particulars, each used once an article.
    pub(super) facts: &'static [&'static str],
    /// What somebody says; in an interview the questions, each in the place of its answer.
    pub(super) quotes: &'static [&'static str],
    /// Last sentences.
    pub(super) closings: &'static [&'static str],
}

impl Genre {
    /// The genre's phrases.
    pub(super) fn phrases(self) -> &'static Phrases {
        match self {
            Self::Drilling => &ground::DRILLING,
            Self::Shale => &ground::SHALE,
            Self::Offshore => &ground::OFFSHORE,
            Self::Pipeline => &gas::PIPELINE,
            Self::Lng => &gas::LNG,
            Self::Storage => &gas::STORAGE,
            Self::Market => &market::MARKET,
            Self::Carbon => &market::CARBON,
            Self::Refinery => &plant::REFINERY,
            Self::Safety => &plant::SAFETY,
            Self::Technology => &plant::TECHNOLOGY,
            Self::Policy => &public::POLICY,
            Self::Interview => &public::INTERVIEW,
            Self::Frontline => &people::FRONTLINE,
            Self::Essay => &people::ESSAY,
            Self::PlantQuestion => &forum::PLANT_QUESTION,
            Self::WellQuestion => &forum::WELL_QUESTION,
            Self::Picture => &people::PICTURE,
        }
    }

    /// Whether a news desk's dateline stands before the first sentence.
    pub(super) fn has_dateline(self) -> bool {
        !matches!(
            self,
            Self::Policy | Self::Essay | Self::PlantQuestion | Self::WellQuestion | Self::Picture
        )
    }
}
