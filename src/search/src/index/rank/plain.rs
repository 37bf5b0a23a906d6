//! Plans the plain text of a query: what ranks documents, and what each must have. Ranks by BM25 over words, over pairs of
//! characters, over single characters that are words, and over a short text as typed. What a document must have goes by pairs
//! alone, so that a term acts at once. Never demands function words.

use super::clauses::{Builder, Demand};
use super::plan::{MAX_TERMS, Plan};
use crate::analyze::{
    Day, GramPhrase, Word, find_days, gram_phrase, gram_term, is_cjk, is_single, is_stop_word,
    normalize, whole_grams,
};
use crate::index::facets::days::DAY_MS;
use crate::index::query::{Match, Target};
use crate::index::schema::{BODY, Column, TITLE};

// Three views of a text are added up, each with weight 1, without tuning: words, pairs of characters, and single characters that
// are words. Measured one by one on kept questions in docs/search.md.
/// What a Latin or digit run weighs: it is in the index as a gram only, and is a word as well.
const RUN_WEIGHT: f32 = 2.0;
/// What a short text as typed weighs against a word of it, which it also holds.
const WHOLE_WEIGHT: f32 = 0.5;

/// Longest piece of plain text that is also searched for as a whole: longer ones are sentences.
const MAX_WHOLE_CHARS: usize = 16;
/// Most words of which a share is demanded: more would be slow and say little.
const MAX_UNITS: usize = 32;
/// Most words of a query that is taken as a list of words: documents with all of them gain a bonus.
const MAX_LISTED_WORDS: usize = 5;
/// Most words that a document must all have, unless the query says otherwise: who writes more writes a sentence, which says
/// the same in other words elsewhere.
const MAX_ALL_WORDS: usize = 3;
/// What share of a longer query a document must have, by the rarity of its words.
const MOST_SHARE: f32 = 0.6;
/// What share of a query a weaker match has, by the rarity of its words; words that no document has are not counted.
const WEAKER_SHARE: f32 = 0.2;
/// Longest text that is searched for as typed: the longest titles have so many characters.
const MAX_EXACT_CHARS: usize = 64;
/// What a document gains that holds the query as typed in its text; in the title it gains twice as much. More than the
/// words of a query can weigh together.
pub(crate) const TIER: f32 = 8_192.0;

/// How far from its publication a text may name a day without the year.
const HALF_YEAR_MS: i64 = 183 * DAY_MS;

/// A content word of a query.
pub(crate) struct Unit {
    pub(crate) plan: Plan,
    /// How rare it is: the logarithm of all documents through those that have it.
    pub(crate) weight: f32,
}

impl Builder<'_> {
    /// Documents with enough of the words of a text, ranked by all of it. With `tiers`, those that hold it as typed come
    /// first.
    pub(crate) fn plain(
        &self,
        text: &str,
        target: Target,
        demand: Demand,
        tiers: bool,
    ) -> Option<Plan> {
        let normal = normalize(text);
        let words = self.dictionary.words(&normal);
        let units = self.units(&normal, &words, target)?;
        let mut by = self.ranking(&normal, &words, target);
        by.extend(self.synonym_ranking(&normal, &words, target));
        by.extend(find_days(&normal).iter().map(|day| self.day(day, target)));
        if tiers {
            by.extend(self.tiers(normal.trim()));
        }
        if (2..=MAX_LISTED_WORDS).contains(&units.len()) {
            let all = units.iter().map(|unit| (unit.plan.clone(), 1.0));
            let all = Plan::MinimumShouldMatch(all.collect(), units.len() as f32);
            by.push(all.constant(self.config.all_words_bonus));
        }
        // What holds the text as typed holds its words, however a dictionary cuts them there.
        let exact = match words.len() {
            0 | 1 => None,
            _ => self.anywhere(normal.trim(), target),
        };
        let fitting = self.fitting((&normal, &words), units, exact, target, demand);
        Some(Plan::Scored {
            fitting: Box::new(fitting),
            by,
        })
    }

    /// What a document must have.
    fn fitting(
        &self,
        (normal, words): (&str, &[Word]),
        units: Vec<Unit>,
        exact: Option<Plan>,
        target: Target,
        demand: Demand,
    ) -> Plan {
        if demand == Demand::Weaker {
            return self.weaker(normal, units, target);
        }
        let asks = words.iter().any(|word| asks(word.slice_of(normal)));
        let sum: f32 = units.iter().map(|unit| unit.weight).sum();
        let least = match demand {
            Demand::Asked(Match::All) => sum,
            Demand::Asked(Match::Auto) if units.len() <= MAX_ALL_WORDS && !asks => sum,
            Demand::Asked(Match::Auto | Match::Most) => sum * MOST_SHARE,
            Demand::Asked(Match::Any) | Demand::Weaker => 0.0,
        };
        let mut any: Vec<(Plan, f32)> = units.into_iter().map(|u| (u.plan, u.weight)).collect();
        any.extend(exact.map(|exact| (exact, sum)));
        if least > 0.0 {
            return Plan::MinimumShouldMatch(any, least);
        }
        let any = any.into_iter().map(|(plan, _)| plan).collect();
        Plan::one_of(any).map_or(Plan::Nothing, Plan::unscored)
    }

    /// What a weaker match must have: a share of the words, or of the pairs of characters of one word.
    fn weaker(&self, normal: &str, units: Vec<Unit>, target: Target) -> Plan {
        let mut any: Vec<(Plan, f32)> = Vec::new();
        match units.len() {
            0 | 1 => {
                for gram in whole_grams(normal).into_iter().take(MAX_UNITS) {
                    let unit = self.unit(gram, target);
                    any.extend(unit.map(|plan| (plan, self.rarity(gram, target))));
                }
            }
            _ => any.extend(units.into_iter().map(|u| (u.plan, u.weight))),
        }
        any.retain(|(_, weight)| *weight < self.absent());
        let sum: f32 = any.iter().map(|(_, weight)| weight).sum();
        Plan::MinimumShouldMatch(any, sum * WEAKER_SHARE)
    }

    /// What ranks documents by a text in normal form.
    pub(crate) fn ranking(&self, normal: &str, words: &[Word], target: Target) -> Vec<Plan> {
        let (mut of_words, mut grams, mut singles) = (Vec::new(), Vec::new(), Vec::new());
        for word in words {
            let text = word.slice_of(normal);
            if is_single(text) && !is_stop_word(text) {
                raise(&mut singles, text, 1.0);
            }
            // Common words are not in the index; to tell them costs more than to look for them.
            if text.chars().any(is_cjk) && !is_stop_word(text) {
                let is_term = self.dictionary.is_term(text);
                let weight = if is_term { self.config.term_boost } else { 1.0 };
                raise(&mut of_words, text, weight);
            }
        }
        for gram in whole_grams(normal) {
            let is_run = !gram.chars().any(is_cjk);
            raise(&mut grams, gram, if is_run { RUN_WEIGHT } else { 1.0 });
        }
        let whole_weight = self.config.phrase_boost * WHOLE_WEIGHT;
        let whole = normal.split(' ').filter(|piece| {
            let is_short = (3..=MAX_WHOLE_CHARS).contains(&piece.chars().count());
            // A word is ranked as one already.
            let is_word = of_words.iter().any(|(word, _)| word == piece);
            is_short && !is_word && !is_one_gram(piece) && whole_weight > 0.0
        });
        let whole: Vec<&str> = whole.take(MAX_TERMS).collect();
        let mut any: Vec<Plan> = Vec::new();
        for (columns, boost) in self.texts(target) {
            for (column, terms) in [
                (columns.words, &of_words),
                (columns.grams, &grams),
                (columns.singles, &singles),
            ] {
                let ranked = terms.iter();
                any.extend(
                    ranked.map(|(text, weight)| Plan::term(column, text).boosted(weight * boost)),
                );
            }
            for piece in &whole {
                let whole = Plan::literal(columns.grams, piece);
                any.extend(whole.map(|whole| whole.boosted(whole_weight * boost)));
            }
        }
        any
    }

    /// What raises the documents that hold a text as typed above all others, in the title above the text.
    fn tiers(&self, text: &str) -> Vec<Plan> {
        let chars = text.chars().count();
        let (title, body) = (TITLE.grams, BODY.grams);
        match gram_phrase(text) {
            GramPhrase::Nothing => Vec::new(),
            // All that fits has the character.
            GramPhrase::Single(single) => {
                vec![Plan::one_character(title, single).constant(2.0 * TIER)]
            }
            GramPhrase::Chain(_) if chars > MAX_EXACT_CHARS => Vec::new(),
            GramPhrase::Chain(_) => {
                let places = [(title, 2.0), (body, 1.0)].into_iter();
                let found = places.filter_map(|(place, tier)| {
                    let found = Plan::literal(place, text);
                    found.map(|found| found.constant(tier * TIER))
                });
                found.collect()
            }
        }
    }

    /// The content words; none if the text has nothing to search for.
    fn units(&self, normal: &str, words: &[Word], target: Target) -> Option<Vec<Unit>> {
        let mut units: Vec<Unit> = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        let alone = matches!(gram_phrase(normal), GramPhrase::Single(_));
        let days = find_days(normal);
        // Byte up to which words are part of a unit.
        let mut done = 0;
        for (index, word) in words.iter().enumerate() {
            if word.start < done {
                continue;
            }
            if let Some((count, unit)) = self.synonym_unit(normal, &words[index..], target) {
                done = words
                    .get(index + count - 1)
                    .map_or(word.end, |last| last.end);
                units.push(unit);
                continue;
            }
            if alone || is_stop_word(word.slice_of(normal)) || units.len() == MAX_UNITS {
                continue;
            }
            if let Some(day) = days.iter().find(|day| day.start == word.start) {
                done = day.end;
                let weight = self.rarity_of_day(day, target);
                let plan = self.day(day, target).unscored();
                units.push(Unit { plan, weight });
                continue;
            }
            let text = unit_text(normal, words, index);
            if is_number(word.slice_of(normal)) {
                done = word.start + text.len();
            }
            if !seen.contains(&text) {
                seen.push(text);
                let weight = self.rarity(text, target);
                let plan = self.unit(text, target);
                units.extend(plan.map(|plan| Unit { plan, weight }));
            }
        }
        if units.is_empty() {
            // Function words or one character only: they are what was asked for.
            let only = normal
                .split(' ')
                .find_map(|piece| self.anywhere(piece, target));
            return only.map(|plan| vec![Unit { plan, weight: 1.0 }]);
        }
        Some(units)
    }

    /// ln(1 + documents / documents with the word); of a longer word its rarest pair stands for it.
    pub(crate) fn rarity(&self, text: &str, target: Target) -> f32 {
        let documents = |gram: &str| -> u64 {
            let fields = self.texts(target).map(|(pair, _)| {
                if is_single(gram) {
                    pair.singles
                } else {
                    pair.grams
                }
            });
            let found = fields.map(|place| self.statistics.frequency(place, &gram_term(gram)));
            found.max().unwrap_or(0)
        };
        let grams = if is_single(text) {
            vec![text]
        } else {
            whole_grams(text)
        };
        let frequency = grams.into_iter().map(documents).min().unwrap_or(0);
        self.rarity_of(frequency)
    }

    fn rarity_of(&self, frequency: u64) -> f32 {
        let all = self.statistics.documents() as f32;
        (1.0 + (all + 1.0) / (frequency as f32 + 1.0)).ln()
    }

    /// The rarity of what no document has.
    fn absent(&self) -> f32 {
        self.rarity_of(0)
    }

    /// A word, or a single character where it is a word: elsewhere almost every document has it.
    pub(crate) fn unit(&self, text: &str, target: Target) -> Option<Plan> {
        if !is_single(text) {
            return self.anywhere(text, target);
        }
        let any = self
            .texts(target)
            .map(|(pair, _)| Plan::term(pair.singles, text));
        Plan::one_of(any.collect()).map(Plan::unscored)
    }

    fn anywhere(&self, text: &str, target: Target) -> Option<Plan> {
        let mut any = Vec::new();
        for (pair, _) in self.texts(target) {
            match gram_phrase(text) {
                GramPhrase::Single(single) => any.push(Plan::one_character(pair.grams, single)),
                _ => any.extend(Plan::literal(pair.grams, text)),
            }
        }
        Plan::one_of(any).map(Plan::unscored)
    }

    /// Documents that name a day. One that names no year means the one nearest to its publication.
    fn day(&self, day: &Day, target: Target) -> Plan {
        let with = |term: &str| {
            let texts = self.texts(target);
            Plan::Any(
                texts
                    .map(|(text, _)| Plan::term(text.grams, term))
                    .collect(),
            )
        };
        let Some(year) = day.year else {
            return with(&day.any_year_term());
        };
        let named = with(&Day::full_term(year, day.month, day.day));
        let Some(start_ms) = day.start_ms(year, self.config.utc_offset_minutes) else {
            return named;
        };
        let (since_ms, until_ms) = (start_ms - HALF_YEAR_MS, start_ms + HALF_YEAR_MS);
        let near = Plan::Within(Column::Published, Some(since_ms), Some(until_ms));
        let meant = Plan::Each {
            must: vec![with(&day.no_year_term()), near.unscored()],
            without: Vec::new(),
        };
        Plan::Any(vec![named, meant])
    }

    fn rarity_of_day(&self, day: &Day, target: Target) -> f32 {
        let terms = match day.year {
            Some(year) => vec![Day::full_term(year, day.month, day.day), day.no_year_term()],
            None => vec![day.any_year_term()],
        };
        let documents = self.texts(target).map(|(text, _)| -> u64 {
            let terms = terms.iter();
            terms
                .map(|term| self.statistics.frequency(text.grams, term))
                .sum()
        });
        self.rarity_of(documents.max().unwrap_or(0))
    }
}

/// What is demanded for a word: the word itself, but for a single character the pair it makes with another one
/// next to it, because names outside the dictionary are cut into single characters, and a number with its unit: 6口 is
/// no 6月, 500万吨 no 500万元.
fn unit_text<'t>(normal: &'t str, words: &[Word], index: usize) -> &'t str {
    let Some(word) = words.get(index) else {
        return "";
    };
    let text = word.slice_of(normal);
    let lone =
        |other: &&Word| is_single(other.slice_of(normal)) && !is_stop_word(other.slice_of(normal));
    let next = words.get(index + 1).filter(|next| next.start == word.end);
    if is_number(text) {
        let mut end = word.end;
        let following = words.iter().skip(index + 1);
        for (at, unit) in following.take(MAX_UNIT_WORDS).enumerate() {
            let unit_text = unit.slice_of(normal);
            let counts = is_unit(unit_text) || (at == 0 && is_single(unit_text));
            if unit.start != end || !counts {
                break;
            }
            end = unit.end;
        }
        return normal.get(word.start..end).unwrap_or(text);
    }
    if !is_single(text) {
        return text;
    }
    let before = index
        .checked_sub(1)
        .and_then(|i| words.get(i))
        .filter(|before| before.end == word.start);
    let next = next.filter(lone);
    let before = before.filter(lone);
    match (before, next) {
        (_, Some(next)) => normal.get(word.start..next.end).unwrap_or(text),
        (Some(before), None) => normal.get(before.start..word.end).unwrap_or(text),
        (None, None) => text,
    }
}

/// Words of a unit behind a number: 亿 立方米.
const MAX_UNIT_WORDS: usize = 2;

/// Units of more than one character that no multiplier begins.
const UNITS: &[&str] = &[
    "立方米",
    "平方米",
    "平方公里",
    "公里",
    "千米",
    "毫米",
    "厘米",
    "千瓦",
    "兆瓦",
    "千瓦时",
    "摄氏度",
    "美元",
    "欧元",
    "人民币",
    "小时",
    "分钟",
    "个月",
    "公斤",
    "公顷",
    "兆帕",
    "分贝",
];

/// Whether a word behind a number is its unit: 万吨, 亿元, 立方米.
fn is_unit(word: &str) -> bool {
    word.starts_with(['百', '千', '万', '亿']) || UNITS.contains(&word)
}

/// Whether a word is a number, perhaps with signs in it: 28, 10.3, 9-1.
fn is_number(word: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    word.starts_with(digit) && word.ends_with(digit) && word.chars().all(|c| !c.is_alphabetic())
}

/// Whether a function word asks: its sentence is a question, which the answer says in other words.
fn asks(word: &str) -> bool {
    is_stop_word(word) && word.contains(['么', '哪', '谁', '几', '何', '怎', '少', '吗', '呢'])
}

/// Whether a text is one term of the gram field.
fn is_one_gram(text: &str) -> bool {
    whole_grams(text) == [text]
}

/// Notes a text with its weight; of two weights the greater one.
fn raise<'t>(weights: &mut Vec<(&'t str, f32)>, text: &'t str, weight: f32) {
    if let Some((_, known)) = weights.iter_mut().find(|(known, _)| *known == text) {
        *known = known.max(weight);
    } else if !text.is_empty() && weights.len() < MAX_TERMS {
        weights.push((text, weight));
    }
}
