/* Sees every change that a program makes to files below one folder, writes it down, and can make it fail.
 *
 * Loaded with LD_PRELOAD. trap.c passes the system calls that matter to carry_out() here. x86-64 Linux only.
 *
 * TAOJIN_DISK_ROOT     the folder; everything else passes through unseen
 * TAOJIN_DISK_JOURNAL  file that gets a record of each change, in the order of their effects (disk/journal.rs reads it)
 * TAOJIN_DISK_FAULTS   file of `struct faults` (faults.c), which says what fails now (disk/faults.rs writes it)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "faults.h"
#include "trap.h"

#define PATH 4096
#define RENAME_FLAG_EXCHANGE 2

/* The head of a record; two names and the data follow. */
struct record {
    uint32_t op;
    uint32_t name_length;
    uint32_t name2_length;
    uint32_t data_length;
    uint64_t inode;
    int64_t offset;
};

static char root[PATH];
static size_t root_length;
static int journal = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int in_root(const char *path)
{
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0);
}

/* A path as the patterns of faults have it. */
static const char *below(const char *path)
{
    return path[root_length] ? path + root_length + 1 : "";
}

/* The path that a descriptor stands for, or nothing. */
static int path_of(long fd, char *out)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
    long length = CALL(SYS_readlinkat, AT_FDCWD, link, out, PATH - 1);
    out[length < 0 ? 0 : length] = 0;
    return length > 0 && in_root(out);
}

/* The whole path of a name beside a folder's descriptor, if it is one of ours. */
static int resolve(int at, const char *name, char *out)
{
    if (!name)
        return 0;
    if (name[0] == '/') {
        if (strlen(name) >= PATH)
            return 0;
        strcpy(out, name);
    } else {
        char folder[PATH];
        long length;
        if (at == AT_FDCWD) {
            length = CALL(SYS_getcwd, folder, PATH) - 1;
        } else {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", at);
            length = CALL(SYS_readlinkat, AT_FDCWD, link, folder, PATH - 1);
        }
        if (length <= 0 || length + strlen(name) + 2 >= PATH)
            return 0;
        memcpy(out, folder, length);
        out[length] = '/';
        strcpy(out + length + 1, name);
    }
    return in_root(out);
}

static void note(char op, uint64_t inode, int64_t offset, const char *name, const char *name2, const void *data,
                 size_t length)
{
    if (journal < 0)
        return;
    struct record head = {
        .op = op,
        .name_length = name ? strlen(name) : 0,
        .name2_length = name2 ? strlen(name2) : 0,
        .data_length = length,
        .inode = inode,
        .offset = offset,
    };
    struct iovec parts[] = {
        {&head, sizeof head},
        {(void *)name, head.name_length},
        {(void *)name2, head.name2_length},
        {(void *)data, length},
    };
    long whole = sizeof head + head.name_length + head.name2_length + length;
    if (CALL(SYS_writev, journal, parts, 4) != whole)
        abort(); /* a journal with a gap would prove nothing */
}

/* write, pwrite, writev, pwritev: `at` is less than 0 for the descriptor's own place. */
static long writes(long fd, const struct iovec *parts, long count, int64_t at)
{
    char path[PATH];
    if (!path_of(fd, path))
        return at < 0 ? CALL(SYS_writev, fd, parts, count) : CALL(SYS_pwritev, fd, parts, count, at, 0);
    enum kind kind = fault(below(path), WRITES);
    if (kind != NONE && kind != SHORT)
        return error_of(kind);
    size_t length = 0;
    for (long i = 0; i < count; i++)
        length += parts[i].iov_len;
    struct iovec half;
    if (kind == SHORT && length > 1) {
        half = (struct iovec){parts[0].iov_base, (parts[0].iov_len + 1) / 2};
        parts = &half;
        count = 1;
    }
    pthread_mutex_lock(&lock);
    struct stat file;
    CALL(SYS_fstat, fd, &file);
    int64_t offset = at;
    if (at < 0)
        offset = CALL(SYS_fcntl, fd, F_GETFL) & O_APPEND ? file.st_size : CALL(SYS_lseek, fd, 0, SEEK_CUR);
    long done = at < 0 ? CALL(SYS_writev, fd, parts, count) : CALL(SYS_pwritev, fd, parts, count, at, 0);
    size_t left = done > 0 ? done : 0;
    for (long i = 0; i < count && left > 0; i++) {
        size_t part = parts[i].iov_len < left ? parts[i].iov_len : left;
        note('W', file.st_ino, offset, 0, 0, parts[i].iov_base, part);
        offset += part;
        left -= part;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static long opens(int at, const char *name, long flags, long mode)
{
    char path[PATH];
    if (!resolve(at, name, path))
        return CALL(SYS_openat, at, name, flags, mode);
    struct stat file;
    int was_there = CALL(SYS_newfstatat, at, name, &file, 0) == 0;
    int makes = flags & O_CREAT && !was_there;
    int to_write = (flags & O_ACCMODE) != O_RDONLY;
    enum kind kind = fault(below(path), makes ? MAKES : to_write ? OPENS_TO_WRITE : OPENS_TO_READ);
    if (kind != NONE)
        return error_of(kind);
    pthread_mutex_lock(&lock);
    was_there = CALL(SYS_newfstatat, at, name, &file, 0) == 0;
    long size = was_there ? file.st_size : 0;
    long fd = CALL(SYS_openat, at, name, flags, mode);
    if (fd >= 0 && CALL(SYS_fstat, fd, &file) == 0) {
        if (flags & O_CREAT && !was_there)
            note('C', file.st_ino, 0, path, 0, 0, 0);
        else if (flags & O_TRUNC && size > 0)
            note('T', file.st_ino, 0, 0, 0, 0, 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

static long truncates(long number, const long *a)
{
    char path[PATH];
    if (!path_of(a[0], path))
        return CALL(number, a[0], a[1], a[2], a[3]);
    enum kind kind = fault(below(path), GROWS);
    if (kind != NONE)
        return error_of(kind);
    if (number == SYS_fallocate)
        return -EOPNOTSUPP;
    pthread_mutex_lock(&lock);
    struct stat file;
    CALL(SYS_fstat, a[0], &file);
    long done = CALL(number, a[0], a[1]);
    if (done == 0)
        note('T', file.st_ino, a[1], 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

static long syncs(long number, long fd)
{
    char path[PATH];
    if (!path_of(fd, path))
        return CALL(number, fd);
    enum kind kind = fault(below(path), SYNCS);
    if (kind != NONE)
        return error_of(kind);
    pthread_mutex_lock(&lock);
    struct stat file;
    CALL(SYS_fstat, fd, &file);
    /* The journal says what a sync would have brought onto the disk; the test's own disk need not be asked. */
    long done = journal >= 0 ? 0 : CALL(number, fd);
    if (done == 0)
        note('S', file.st_ino, 0, 0, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

/* rename, exchange and link: two names. */
static long renames(char op, int from_at, const char *from, int to_at, const char *to, long flags)
{
    char path[PATH], path2[PATH];
    long number = op == 'L' ? SYS_linkat : SYS_renameat2;
    int ours = resolve(from_at, from, path);
    ours += resolve(to_at, to, path2);
    if (!ours)
        return CALL(number, from_at, from, to_at, to, flags);
    if (ours == 1)
        return -EXDEV; /* neither name may leave the folder that is watched */
    enum kind kind = fault(path2, RENAMES);
    if (kind != NONE)
        return error_of(kind);
    pthread_mutex_lock(&lock);
    long done = CALL(number, from_at, from, to_at, to, flags);
    if (done == 0)
        note(op == 'R' && flags & RENAME_FLAG_EXCHANGE ? 'X' : op, 0, 0, path, path2, 0, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

static long removes(int at, const char *name, long flags)
{
    char path[PATH];
    if (!resolve(at, name, path))
        return CALL(SYS_unlinkat, at, name, flags);
    enum kind kind = fault(below(path), REMOVES);
    if (kind != NONE)
        return error_of(kind);
    pthread_mutex_lock(&lock);
    long done = CALL(SYS_unlinkat, at, name, flags);
    if (done == 0)
        note('U', 0, 0, path, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

static long makes_folder(int at, const char *name, long mode)
{
    char path[PATH];
    if (!resolve(at, name, path))
        return CALL(SYS_mkdirat, at, name, mode);
    enum kind kind = fault(below(path), MAKES);
    if (kind != NONE)
        return error_of(kind);
    pthread_mutex_lock(&lock);
    long done = CALL(SYS_mkdirat, at, name, mode);
    struct stat folder;
    if (done == 0 && CALL(SYS_newfstatat, at, name, &folder, 0) == 0)
        note('M', folder.st_ino, 0, path, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

static long reads(long number, const long *a)
{
    char path[PATH];
    if (is_faulty() && path_of(a[0], path)) {
        enum kind kind = fault(below(path), READS);
        if (kind != NONE)
            return error_of(kind);
    }
    return CALL(number, a[0], a[1], a[2], a[3]);
}

/* A file that is written through memory is not seen. Only SQLite's -shm is, which need not survive. */
static long maps(const long *a)
{
    char path[PATH];
    if (path_of(a[4], path) && !strstr(path, "-shm"))
        note('!', 0, 0, path, 0, 0, 0);
    return CALL(SYS_mmap, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long carry_out(long number, const long *a)
{
    char path[PATH];
    struct iovec part = {(void *)a[1], a[2]};
    switch (number) {
    case SYS_write: return writes(a[0], &part, 1, -1);
    case SYS_pwrite64: return writes(a[0], &part, 1, a[3]);
    case SYS_writev: return writes(a[0], (void *)a[1], a[2], -1);
    case SYS_pwritev: return writes(a[0], (void *)a[1], a[2], a[3]);
    case SYS_open: return opens(AT_FDCWD, (void *)a[0], a[1], a[2]);
    case SYS_openat: return opens(a[0], (void *)a[1], a[2], a[3]);
    case SYS_creat: return opens(AT_FDCWD, (void *)a[0], O_CREAT | O_WRONLY | O_TRUNC, a[1]);
    case SYS_ftruncate:
    case SYS_fallocate: return truncates(number, a);
    case SYS_fsync:
    case SYS_fdatasync: return syncs(number, a[0]);
    case SYS_rename: return renames('R', AT_FDCWD, (void *)a[0], AT_FDCWD, (void *)a[1], 0);
    case SYS_renameat: return renames('R', a[0], (void *)a[1], a[2], (void *)a[3], 0);
    case SYS_renameat2: return renames('R', a[0], (void *)a[1], a[2], (void *)a[3], a[4]);
    case SYS_link: return renames('L', AT_FDCWD, (void *)a[0], AT_FDCWD, (void *)a[1], 0);
    case SYS_linkat: return renames('L', a[0], (void *)a[1], a[2], (void *)a[3], a[4]);
    case SYS_unlink: return removes(AT_FDCWD, (void *)a[0], 0);
    case SYS_rmdir: return removes(AT_FDCWD, (void *)a[0], AT_REMOVEDIR);
    case SYS_unlinkat: return removes(a[0], (void *)a[1], a[2]);
    case SYS_mkdir: return makes_folder(AT_FDCWD, (void *)a[0], a[1]);
    case SYS_mkdirat: return makes_folder(a[0], (void *)a[1], a[2]);
    case SYS_read:
    case SYS_pread64: return reads(number, a);
    case SYS_mmap: return maps(a);
    /* Whoever copies between files falls back on reading and writing. */
    case SYS_copy_file_range:
        return path_of(a[2], path) ? -ENOSYS : CALL(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    case SYS_sendfile: return path_of(a[0], path) ? -EINVAL : CALL(number, a[0], a[1], a[2], a[3]);
    default: return -ENOSYS;
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("TAOJIN_DISK_ROOT");
    const char *records = getenv("TAOJIN_DISK_JOURNAL");
    const char *rules = getenv("TAOJIN_DISK_FAULTS");
    if (!folder || strlen(folder) >= PATH)
        return;
    strcpy(root, folder);
    root_length = strlen(root);
    if (records && (journal = open(records, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) < 0)
        abort();
    if (rules)
        read_faults(rules);
    trap_calls(rules != 0);
}
