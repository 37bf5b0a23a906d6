//! Archives: the names of their members are their text, what is read of each stands under it.

use std::cell::RefCell;
use std::io::{Cursor, Read, Write};
use std::rc::Rc;

use rars::{ArchiveReadOptions, ArchiveReader, ErrorKind, ExtractionDecision};

use crate::draft::Draft;
use crate::mail::push_member;
use crate::package::{Package, decode_name};
use crate::{Budget, Member, Place, Unreadable};

/// Headers of a RAR archive: members, and what stands between them.
const MAX_RAR_HEADERS: u64 = 20_000;
/// Window of a RAR archive, which is memory.
const MAX_RAR_WINDOW: u64 = 256 << 20;

pub(crate) fn read_zip(
    bytes: &[u8],
    depth: usize,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    let mut package = Package::open(bytes)?;
    let mut draft = Draft::default();
    for (index, name) in package.names().to_vec().into_iter().enumerate() {
        if package.is_folder(index) || is_hidden(&name) {
            continue;
        }
        if budget.members == 0 {
            draft.is_cut = true;
            break;
        }
        match package.read_at(index, budget) {
            Ok(member) => push_member(&mut draft, name, &member, depth, budget),
            Err(why) => push_unreadable(&mut draft, name, why, budget),
        }
    }
    finish(draft)
}

/// Files that programs add for themselves.
fn is_hidden(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    name.starts_with("__MACOSX/")
        || file.starts_with("._")
        || file == ".DS_Store"
        || file == "Thumbs.db"
}

fn push_unreadable(draft: &mut Draft, name: String, why: Unreadable, budget: &mut Budget) {
    budget.members = budget.members.saturating_sub(1);
    draft.members.push(Member {
        name,
        content: Err(why),
    });
}

/// An archive of which every member needs a password needs it itself.
fn finish(mut draft: Draft) -> Result<Draft, Unreadable> {
    let is_locked = |member: &Member| member.content == Err(Unreadable::Password);
    if !draft.members.is_empty() && draft.members.iter().all(is_locked) {
        return Err(Unreadable::Password);
    }
    let names: Vec<&str> = draft.members.iter().map(|member| &*member.name).collect();
    let names = names.join("\n");
    draft.push(Place::Whole, names);
    Ok(draft)
}

/// Collects what a member unpacks to, as far as it may.
#[derive(Clone, Default)]
struct Collector(Rc<RefCell<Vec<u8>>>);

impl Write for Collector {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn read_rar(
    bytes: &[u8],
    depth: usize,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    let mut options = ArchiveReadOptions::default();
    options.max_header_count = Some(MAX_RAR_HEADERS);
    options.rar50_dictionary_size_limit = Some(MAX_RAR_WINDOW);
    options.max_total_output_bytes = Some(budget.unpacked);
    let archive =
        ArchiveReader::read_with_options(bytes, options).map_err(|error| unreadable(&error))?;
    // One pass over all: the members of a solid archive need each other.
    let mut members: Vec<(String, Collector)> = Vec::new();
    let most = budget.members;
    let extracted = archive.extract_with_control(options, |member| {
        if member.meta.is_directory || member.meta.is_redirection {
            return Ok(ExtractionDecision::Skip);
        }
        if members.len() == most {
            return Ok(ExtractionDecision::Stop);
        }
        let name = member.decoded_name(None)?;
        let collector = Collector::default();
        members.push((decode_name(&name), collector.clone()));
        Ok(ExtractionDecision::Extract(Box::new(collector)))
    });
    let mut draft = Draft::default();
    let failed = extracted.err().map(|error| unreadable(&error));
    let last = members.len().saturating_sub(1);
    for (index, (name, collector)) in members.into_iter().enumerate() {
        let content = collector.0.take();
        budget.take_unpacked(content.len())?;
        match &failed {
            Some(why) if index == last => push_unreadable(&mut draft, name, why.clone(), budget),
            _ => push_member(&mut draft, name, &content, depth, budget),
        }
    }
    if let (Some(why), true) = (failed, draft.members.is_empty()) {
        return Err(why);
    }
    finish(draft)
}

fn unreadable(error: &rars::Error) -> Unreadable {
    match error.kind() {
        ErrorKind::PasswordRequired | ErrorKind::BadPassword => Unreadable::Password,
        ErrorKind::ResourceLimit => Unreadable::TooLarge,
        ErrorKind::UnsupportedFormat | ErrorKind::UnsupportedFeature => {
            Unreadable::unknown_packing()
        }
        _ => Unreadable::Damaged,
    }
}

pub(crate) fn read_7z(
    bytes: &[u8],
    depth: usize,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    let password = sevenz_rust2::Password::empty();
    let mut archive = sevenz_rust2::ArchiveReader::new(Cursor::new(bytes), password)
        .map_err(|error| packed(&error))?;
    archive.set_thread_count(1);
    let mut draft = Draft::default();
    let read = archive.for_each_entries(|entry, content| {
        if entry.is_directory() {
            return Ok(true);
        }
        let mut member = Vec::new();
        let read = content.take(budget.unpacked + 1).read_to_end(&mut member);
        let name = entry.name().replace('\\', "/");
        match budget
            .take_unpacked(member.len())
            .and(read.map_err(|_| Unreadable::Damaged))
        {
            Ok(_) => push_member(&mut draft, name, &member, depth, budget),
            Err(why) => push_unreadable(&mut draft, name, why, budget),
        }
        draft.is_cut |= budget.members == 0;
        Ok(!draft.is_cut && budget.unpacked > 0)
    });
    match read {
        Err(error) if draft.members.is_empty() => Err(packed(&error)),
        _ => finish(draft),
    }
}

fn packed(error: &sevenz_rust2::Error) -> Unreadable {
    use sevenz_rust2::Error;
    match error {
        Error::PasswordRequired | Error::MaybeBadPassword(_) => Unreadable::Password,
        Error::UnsupportedCompressionMethod(name) if name.contains("AES") => Unreadable::Password,
        Error::MaxMemLimited { .. } => Unreadable::TooLarge,
        Error::UnsupportedCompressionMethod(_) | Error::ExternalUnsupported => {
            Unreadable::unknown_packing()
        }
        _ => Unreadable::Damaged,
    }
}
