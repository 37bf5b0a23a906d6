//! From a [`Query`] to a [`Plan`]: groups, fields, phrases and filters. Quoted text is a phrase of grams.
//! Never fails: text without a searchable character matches nothing.
//!
//! Synonyms are part of the query that is built, and are told to the person ([`expanded`]). A document that has a synonym
//! counts less than one that has the word as typed.

use std::sync::Arc;

use super::labels;
use super::plain::Unit;
use super::plan::{Chain, Plan};
use crate::analyze::{Dictionary, Expanded, Word, across_words, is_cjk, normalize, whole_grams};
use crate::index::Config;
use crate::index::facets::values::of_file_type;
use crate::index::query::{Clause, Filter, Form, Group, Match, Occur, Query, Target};
use crate::index::schema::{BODY, COMMENTS, Column, TITLE, TextColumns};
use crate::index::stored::host_of;
use crate::index::view::Statistics;

/// How much of the plain words a document must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// What the query says.
    Asked(Match),
    /// A part of it: for what is shown as a weaker match.
    Weaker,
}

/// What the builder needs to know.
pub(crate) struct Builder<'a> {
    /// Knows how rare a word is.
    pub(crate) statistics: &'a dyn Statistics,
    pub(crate) dictionary: Arc<Dictionary>,
    pub(crate) config: &'a Config,
    pub(crate) demand: Demand,
    /// Without synonyms.
    pub(crate) as_typed: bool,
}

impl Builder<'_> {
    /// The documents of a question without those of another.
    pub(crate) fn but_not(&self, query: &Query, other: Plan) -> Plan {
        Plan::Each {
            must: vec![self.build(query)],
            without: vec![other],
        }
    }

    /// The whole question.
    pub(crate) fn build(&self, query: &Query) -> Plan {
        let (mut must, without) = self.groups(&query.groups);
        let mut asked = !must.is_empty();
        if !query.words.trim().is_empty() {
            asked = true;
            let words = self.plain(&query.words, Target::Anywhere, self.demand, true);
            must.splice(0..0, words);
        }
        if must.is_empty() {
            if asked {
                return Plan::Nothing;
            }
            must.push(Plan::All);
        }
        must.extend(filters(&query.filter));
        match (must.len(), without.is_empty()) {
            (1, true) => must.remove(0),
            _ => Plan::Each { must, without },
        }
    }

    /// What the groups demand, and what they refuse.
    fn groups(&self, groups: &[Group]) -> (Vec<Plan>, Vec<Plan>) {
        let (mut must, mut without) = (Vec::new(), Vec::new());
        for group in groups {
            let any = group.any.iter();
            let any = any.filter_map(|clause| self.clause(clause, group.occur));
            let any = Plan::one_of(any.collect());
            match group.occur {
                // What finds nothing is nothing that could be refused.
                Occur::Without => without.extend(any),
                Occur::Must => must.push(any.unwrap_or(Plan::Nothing)),
            }
        }
        (must, without)
    }

    fn clause(&self, clause: &Clause, occur: Occur) -> Option<Plan> {
        let (target, text) = (clause.target, clause.text.as_str());
        let words = clause.form == Form::Words && occur == Occur::Must;
        match (&clause.form, target) {
            (Form::All(groups), _) => return Some(self.all(groups)),
            (_, Target::Site) => return site(text),
            (_, Target::Kind) => {
                return Some(Plan::Term(Column::Kind, normalize(text).trim().to_owned()));
            }
            (_, Target::FileType) => return Some(of_file_type(text).unscored()),
            (_, Target::Meta) => return labels::asked(text),
            (_, Target::Anywhere | Target::Title | Target::Comments) if words => {
                let demand = Demand::Asked(Match::Auto);
                return self.plain(text, target, demand, false);
            }
            _ => {}
        }
        let any = self
            .places(target)
            .into_iter()
            .filter_map(|(place, boost)| {
                let found = match &clause.form {
                    Form::Prefix => prefix(text, place),
                    Form::Near { other, within } => near([text, other], place, *within),
                    _ => Plan::literal(place, text),
                };
                found.map(|found| found.boosted(boost))
            });
        Plan::one_of(any.collect())
    }

    /// All of these groups.
    fn all(&self, groups: &[Group]) -> Plan {
        let (mut must, without) = self.groups(groups);
        if must.is_empty() {
            must.push(Plan::All.unscored());
        }
        Plan::Each { must, without }
    }

    /// The fields of grams that a target covers, with their weights.
    fn places(&self, target: Target) -> Vec<(Column, f32)> {
        match target {
            Target::Author => vec![(Column::Author, 1.0)],
            Target::Source => vec![(Column::Source, 1.0)],
            Target::Url => vec![(Column::Url, 1.0)],
            _ => self
                .texts(target)
                .map(|(text, boost)| (text.grams, boost))
                .collect(),
        }
    }

    /// The texts a target covers, with their weights.
    pub(crate) fn texts(&self, target: Target) -> impl Iterator<Item = (TextColumns, f32)> {
        let all = [
            (TITLE, self.config.title_boost),
            (BODY, 1.0),
            (COMMENTS, 1.0),
        ];
        let covered = match target {
            Target::Comments => 2..3,
            Target::Anywhere => 0..2,
            _ => 0..1,
        };
        covered.map(move |at| all[at])
    }
}

/// Runs of letters and digits that begin so.
fn prefix(text: &str, column: Column) -> Option<Plan> {
    let normal = normalize(text);
    let text = normal.trim();
    (!text.is_empty()).then(|| Plan::Begins(column, text.to_owned()))
}

/// Two texts near each other; none where one of them is no chain of grams.
fn near(texts: [&str; 2], column: Column, within: u32) -> Option<Plan> {
    let [first, second] = texts.map(Chain::new);
    Some(Plan::Near(column, [first?, second?], within))
}

fn site(site: &str) -> Option<Plan> {
    let place = place_of(site)?;
    Some(Plan::Term(Column::Places, place).unscored())
}

fn filters(filter: &Filter) -> Vec<Plan> {
    let mut all = Vec::new();
    let sites = filter.sites.iter().filter_map(|s| site(s));
    all.extend(Plan::one_of(sites.collect()));
    all.extend(filter.group.map(|group| Plan::Group(group).unscored()));
    for (time, since_ms, until_ms) in [
        (Column::Published, filter.since_ms, filter.until_ms),
        (
            Column::Changed,
            filter.changed_since_ms,
            filter.changed_until_ms,
        ),
    ] {
        if since_ms.is_some() || until_ms.is_some() {
            all.push(Plan::Within(time, since_ms, until_ms).unscored());
        }
    }
    all
}

/// A site as the index writes it: its name in normal form, or the host of an address.
pub(crate) fn place_of(site: &str) -> Option<String> {
    let site = site.trim();
    let place = if site.contains("://") {
        host_of(site)
    } else {
        normalize(site).into_owned()
    };
    (!place.is_empty()).then_some(place)
}

/// What a synonym counts against the word as typed.
const SYNONYM_WEIGHT: f32 = 0.8;
/// What a document gains for each word that it has as typed: more than any synonym scores.
const TYPED_BONUS: f32 = 30.0;
/// Words of one query that are searched for with their synonyms: one with more is a text.
const MOST_EXPANDED: usize = 8;

/// The words of a query that have synonyms, with these.
pub(crate) fn expanded(query: &Query, dictionary: &Dictionary) -> Vec<Expanded> {
    if query.as_typed {
        return Vec::new();
    }
    let clauses = query.wanted();
    let clauses = clauses.filter(|clause| clause.form == Form::Words);
    let texts = clauses.map(|clause| clause.text.as_str());
    let mut all: Vec<Expanded> = Vec::new();
    for text in texts.chain([query.words.as_str()]) {
        let normal = normalize(text);
        for (typed, also) in spans(dictionary, &normal, &dictionary.words(&normal)) {
            if all.iter().all(|known| known.typed != typed) {
                all.push(Expanded {
                    typed: typed.to_owned(),
                    also: also.to_vec(),
                });
            }
        }
    }
    all
}

/// The parts of a text in normal form that have synonyms.
fn spans<'t>(
    dictionary: &'t Dictionary,
    normal: &'t str,
    words: &[Word],
) -> Vec<(&'t str, &'t [String])> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < words.len() && found.len() < MOST_EXPANDED {
        let rest = &words[at..];
        match dictionary.synonyms().at(normal, rest) {
            Some((count, others)) => {
                let part = normal.get(rest[0].start..rest[count - 1].end);
                found.extend(part.map(|part| (part, others)));
                at += count;
            }
            None => at += 1,
        }
    }
    found
}

impl Builder<'_> {
    /// What ranks documents by the synonyms of the words of a text: of several the best one counts.
    pub(crate) fn synonym_ranking(
        &self,
        normal: &str,
        words: &[Word],
        target: Target,
    ) -> Vec<Plan> {
        if self.as_typed {
            return Vec::new();
        }
        let mut ranking: Vec<Plan> = Vec::new();
        for (typed, others) in spans(&self.dictionary, normal, words) {
            let ranked = others.iter().filter_map(|other| {
                let other = normalize(other);
                let ranking = self.ranking(&other, &self.dictionary.words(&other), target);
                Plan::one_of(ranking).map(|ranking| ranking.boosted(SYNONYM_WEIGHT))
            });
            ranking.push(Plan::Best(ranked.collect()));
            let typed = self.unit(typed, target);
            ranking.extend(typed.map(|typed| typed.constant(TYPED_BONUS)));
        }
        ranking
    }

    /// A synonym between the borders of words: CO2 is not in CO2e, nor 重油 in 严重油污. Texts that were cut before it was a
    /// synonym have no mark yet, and are found by its characters.
    fn synonym(&self, text: &str, target: Target) -> Option<Plan> {
        let is_run = whole_grams(text) == [text] && !text.chars().any(is_cjk);
        let any = self.texts(target).filter_map(|(columns, _)| {
            if is_run {
                return Some(Plan::term(columns.grams, text));
            }
            Some(Plan::Each {
                must: vec![Plan::literal(columns.grams, text)?],
                without: vec![Plan::Term(columns.words, across_words(text))],
            })
        });
        Plan::one_of(any.collect())
    }

    /// What is demanded for a word that a text begins with: itself or one of its synonyms, and how many words of the text
    /// it is; none where it has no synonyms. It is as rare as the most frequent of them.
    pub(crate) fn synonym_unit(
        &self,
        normal: &str,
        words: &[Word],
        target: Target,
    ) -> Option<(usize, Unit)> {
        if self.as_typed {
            return None;
        }
        let (count, others) = self.dictionary.synonyms().at(normal, words)?;
        let typed = normal.get(words.first()?.start..words.get(count - 1)?.end)?;
        let others = others.iter().map(|other| normalize(other).into_owned());
        let others: Vec<String> = others.collect();
        let rarities = others.iter().map(|other| self.rarity(other, target));
        let weight = rarities.fold(self.rarity(typed, target), f32::min);
        let any = others
            .iter()
            .filter_map(|other| self.synonym(other, target))
            .chain(self.unit(typed, target));
        let plan = Plan::one_of(any.collect())?.unscored();
        Some((count, Unit { plan, weight }))
    }
}
