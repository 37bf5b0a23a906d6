//! Confines this process to what a reader of files needs: memory, and the descriptors that it already has.
//!
//! [`give_up_access`] and [`filter_calls`] are called once, by a process of one thread, before it reads the first byte of a file, and
//! cannot be undone. Two parts of the kernel refuse on their own what matters most, since either may have a gap or be missing:
//!
//! - Landlock refuses every path, connections over TCP, sockets with abstract names and signals to others. A kernel may be without it,
//!   or know only a part ([`missing_in_kernel`]).
//! - A filter of system calls (seccomp) lets pass only those of [`PLAIN_CALLS`] and a few with conditions. Without it nothing is read.
//!
//! The filter names what is allowed, and not what is forbidden: the calls of a computation that allocates memory are few, the same on
//! x86-64 and ARM64 and in every version of glibc, while each kernel brings calls that a list of forbidden ones does not know. What is
//! not allowed fails with EPERM and does not end the process, so that a library that only asks, such as for the number of processors,
//! goes on without an answer.
//!
//! A process that is confined can still use its time and memory, for which there are limits, and answer what it likes.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::fs;
use std::io;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope,
};
use rustix::process::{
    DumpableBehavior, Resource, getpid, getrlimit, set_dumpable_behavior, setpriority_process,
    setsid,
};
use rustix::thread::set_no_new_privs;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// The version that first refuses all that is asked for; an older one refuses what it knows.
const LANDLOCK: ABI = ABI::V6;
/// The least niceness that a process can have: everybody else comes first.
const NICE: i32 = 19;
/// Standard input, output and error stay open.
const FIRST_INHERITED: i32 = 3;
/// Descriptors that are tried where the system does not list them.
const MAX_TRIED_DESCRIPTORS: u64 = 1 << 16;

/// System calls with any arguments. They read and write what is open, take and return memory, ask for the time and for random bytes,
/// and end the process or return from a signal.
const PLAIN_CALLS: &[i64] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Says what the kernel lacks of Landlock; `None` if it has all of it that matters.
pub(crate) fn missing_in_kernel() -> Option<&'static str> {
    let strict = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let paths = strict().handle_access(AccessFs::from_all(ABI::V1));
    if paths.and_then(Ruleset::create).is_err() {
        return Some("Landlock");
    }
    let connections = strict().handle_access(AccessNet::from_all(ABI::V4));
    let created = connections.and_then(Ruleset::create);
    created.is_err().then_some("Landlock for TCP (Linux 6.7)")
}

/// Leaves the processor to everybody else: among the processes of its session, and with that session among all.
///
/// The system may forbid it, such as by a filter of the service; it is no danger.
pub(crate) fn yield_processor() {
    let _ = setpriority_process(None, NICE);
    if setsid().is_ok() {
        let _ = fs::write("/proc/self/autogroup", NICE.to_string());
    }
}

/// Closes what was inherited beside standard input, output and error, and gives up files, connections, new rights and core dumps.
///
/// # Errors
///
/// Fails if the kernel refuses. Landlock is no error where the kernel is without it.
pub(crate) fn give_up_access() -> io::Result<()> {
    for descriptor in inherited_descriptors() {
        // What is not open any more, such as that of the list itself, need not be closed.
        let _ = nix::unistd::close(descriptor);
    }
    set_no_new_privs(true)?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    restrict_by_landlock()
}

fn inherited_descriptors() -> Vec<i32> {
    if let Ok(listed) = fs::read_dir("/proc/self/fd") {
        let numbers = listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        return numbers
            .filter(|number| *number >= FIRST_INHERITED)
            .collect();
    }
    let most = getrlimit(Resource::Nofile).current;
    let most = most
        .unwrap_or(MAX_TRIED_DESCRIPTORS)
        .min(MAX_TRIED_DESCRIPTORS);
    (FIRST_INHERITED..most as i32).collect()
}

fn restrict_by_landlock() -> io::Result<()> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(LANDLOCK))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(LANDLOCK)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(LANDLOCK)))
        .and_then(Ruleset::create);
    // No rule follows, so nothing of it is allowed.
    let restricted = ruleset.and_then(landlock::RulesetCreated::restrict_self);
    restricted.map(drop).map_err(io::Error::other)
}

/// Gives up all system calls but those of a computation. The last step: it forbids the others.
///
/// # Errors
///
/// Fails if the kernel has no filters, or forbids to set one.
pub(crate) fn filter_calls() -> io::Result<()> {
    let filter = filter().map_err(io::Error::other)?;
    apply_filter(&filter).map_err(io::Error::other)
}

fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        PLAIN_CALLS.iter().map(|call| (*call, Vec::new())).collect();
    // Memory, but none to run code from.
    let executable = libc::PROT_EXEC as u64;
    let no_code = || rule(2, SeccompCmpOp::MaskedEq(executable), 0);
    rules.insert(libc::SYS_mmap, vec![no_code()?]);
    rules.insert(libc::SYS_mprotect, vec![no_code()?]);
    // To end itself, as abort does.
    let own = getpid().as_raw_nonzero().get().unsigned_abs();
    rules.insert(
        libc::SYS_tgkill,
        vec![rule(0, SeccompCmpOp::Eq, own.into())?],
    );
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, ARCH.try_into()?)?;
    filter.try_into()
}

fn rule(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
    SeccompRule::new(vec![condition])
}
