//! What a confined process can do: read files of every kind, and nothing else. Each test starts itself again, since confinement
//! cannot be undone.

use std::fs::File;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;

use rustix::process::{
    DumpableBehavior, Pid, dumpable_behavior, getpriority_process, test_kill_process,
};
use rustix::thread::no_new_privs;

use crate::confinement::{filter_calls, give_up_access, missing_in_kernel, yield_processor};
use crate::contained::confine;

/// Tells the process that a test starts what to do.
const ROLE: &str = "TAOJIN_TEST_ROLE";
/// Begins the lines that such a process writes for its test.
const MARK: &str = "confined: ";

/// Starts the test of this name in a process of its own; the lines that it wrote.
#[track_caller]
fn start(test: &str, role: &str) -> Vec<String> {
    let own = std::env::current_exe().expect("this program");
    let name = format!("tests::confined::{test}");
    let output = Command::new(own)
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .output()
        .expect("started");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{role}: {said}{errors}");
    let lines = said.lines().filter_map(|line| line.split_once(MARK));
    lines.map(|(_, line)| line.to_owned()).collect()
}

fn say(line: &str) {
    writeln!(io::stdout(), "\n{MARK}{line}").expect("an open output");
}

/// What a reader of files never needs, each tried once.
fn attempts(port: u16, parent: Pid) -> Vec<(&'static str, bool)> {
    let thread = thread::Builder::new().spawn(|| ());
    vec![
        ("open", File::open("/etc/passwd").is_ok()),
        (
            "connect",
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok(),
        ),
        ("exec", Command::new("/bin/true").status().is_ok()),
        ("thread", thread.is_ok_and(|thread| thread.join().is_ok())),
        ("signal", test_kill_process(parent).is_ok()),
    ]
}

#[test]
fn each_guard_refuses_on_its_own() {
    if let Ok(role) = std::env::var(ROLE) {
        let [guard, port, parent] = role.split(' ').collect::<Vec<_>>()[..] else {
            panic!("a guard, a port and a process")
        };
        let parent = parent.parse().ok().and_then(Pid::from_raw);
        let (port, parent) = (port.parse().expect("a port"), parent.expect("a process"));
        match guard {
            "landlock" => give_up_access().expect("Landlock"),
            "filter" => filter_calls().expect("a filter"),
            "all" => confine(1 << 30, 20).expect("confined"),
            _ => {}
        }
        for (attempt, succeeded) in attempts(port, parent) {
            if succeeded {
                say(attempt);
            }
        }
        return;
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("bound");
    let port = listener.local_addr().expect("an address").port();
    let own = std::process::id();
    let possible = |guard: &str| {
        start(
            "each_guard_refuses_on_its_own",
            &format!("{guard} {port} {own}"),
        )
    };
    assert_eq!(
        possible("none"),
        ["open", "connect", "exec", "thread", "signal"]
    );
    assert!(possible("filter").is_empty());
    assert!(possible("all").is_empty());
    if missing_in_kernel().is_none() {
        let left = possible("landlock");
        let refused = ["open", "connect", "exec"];
        assert!(
            !left.iter().any(|attempt| refused.contains(&&**attempt)),
            "{left:?}"
        );
    }
}

#[test]
fn access_is_given_up() {
    if std::env::var_os(ROLE).is_some() {
        let file = File::open("/etc/passwd").expect("a file");
        yield_processor();
        give_up_access().expect("given up");
        say(&format!("closed {}", file.metadata().is_err()));
        // It is closed already.
        std::mem::forget(file);
        let dumpable = dumpable_behavior().expect("known");
        say(&format!(
            "dumpable {}",
            dumpable != DumpableBehavior::NotDumpable
        ));
        say(&format!("rights fixed {}", no_new_privs().expect("known")));
        say(&format!(
            "niceness {}",
            getpriority_process(None).expect("known")
        ));
        return;
    }
    let given_up = [
        "closed true",
        "dumpable false",
        "rights fixed true",
        "niceness 19",
    ];
    assert_eq!(start("access_is_given_up", "access"), given_up);
}

#[test]
fn confined_process_reads_every_kind() {
    if std::env::var_os(ROLE).is_some() {
        confine(1 << 30, 20).expect("confined");
        for (kind, read) in KINDS {
            read();
            say(kind);
        }
        return;
    }
    let kinds = KINDS.map(|(kind, _)| kind);
    assert_eq!(start("confined_process_reads_every_kind", "all"), kinds);
}

/// Tests of reading, by the kinds that they read.
const KINDS: [(&str, fn()); 15] = [
    ("PDF", super::pdf_columns_come_one_after_the_other),
    ("files in PDF", super::pdf_files_inside_are_members),
    ("OFD", super::ofd_text_has_template_and_title),
    ("DOCX", super::docx_table_and_heading),
    ("passwords", super::password_is_told),
    ("RTF", super::rtf_charsets),
    (
        "OpenDocument and EPUB",
        super::open_document_sheets_and_book_chapters,
    ),
    ("HTML", super::page_saved_as_another_file),
    ("mail", super::mail_body_and_attachment),
    ("ZIP", super::zip_names_and_members),
    ("RAR and 7z", super::rar_and_7z_members),
    ("damage", super::damaged_files_are_read_or_told),
    ("XLSX", super::office::packages_of_other_programs),
    ("XML of Office", super::office::office_in_one_xml_file),
    ("XLS", super::office::old_workbook_values_are_shown),
];
