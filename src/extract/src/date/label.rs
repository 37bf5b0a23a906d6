//! What the words right before a date call it. In: those words. Out: published, modified, or nothing. Never reads the
//! date.

use std::sync::LazyLock;

use regex::Regex;

use crate::literals::{Literals, compiled};

/// What the words before a date call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    /// 发布, published, posted.
    Published,
    /// 更新, modified, updated.
    Modified,
    /// Nothing that is known.
    None,
}

static PUBLISHED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)(?:^|[^\p{Han}]|首次|文章|新闻|稿件|信息|本文|原文|最初|正式)(?:发布|發佈|发表|發表|刊发|发稿|发文|推送)|公開|掲載|配信|投稿|등록|입력|publish|post(?:ed|é)|publi|veröffentlicht|erstellt|created|written|опубликован|yayın|inserito",
    )
});
static MODIFIED: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?i)更新|修改|编辑于|編集|수정|updat|modif|edited|aktualisiert|geändert|actualizado|mis à jour|mise à jour|aggiornato|обновлен|güncelle|last change|reviewed|atualizado|uppdaterad|oppdatert",
    )
});

/// One of them stands in every label of a date.
const LABELS: &str = "发布|發佈|发表|發表|刊发|发稿|发文|推送|公開|掲載|配信|投稿|등록|입력|publi|post|ffentlicht|erstellt|created|written|\
     публикован|ПУБЛИКОВАН|yay|inserito|更新|修改|编辑于|編集|수정|updat|modif|edited|aktualisiert|ndert|actualizado|mis |mise |\
     aggiornato|бновлен|БНОВЛЕН|ncelle|last change|reviewed|atualizado|uppdaterad|oppdatert";

static ANY_LABEL: LazyLock<Literals> =
    LazyLock::new(|| Literals::of(LABELS.split('|').map(|label| (label, 1))));

/// What the words right before a date call it.
pub(crate) fn label_before(before: &str) -> Label {
    /// Characters that may stand between label and date: `发布时间：`, `Published on`.
    const BETWEEN: usize = 10;
    let start = before.char_indices().rev().nth(29).map_or(0, |(i, _)| i);
    let near = before.get(start..).unwrap_or_default();
    if !ANY_LABEL.stand_in(near) {
        return Label::None;
    }
    let last = |regex: &Regex| {
        let end = regex.find_iter(near).last()?.end();
        let between = near.get(end..).unwrap_or_default();
        (between.chars().count() <= BETWEEN).then_some(end)
    };
    match (last(&PUBLISHED), last(&MODIFIED)) {
        (None, None) => Label::None,
        (published, modified) if published >= modified => Label::Published,
        _ => Label::Modified,
    }
}
