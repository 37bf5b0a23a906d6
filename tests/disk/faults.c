#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "faults.h"
#include "trap.h"

/* What fails now. The test writes it while the program runs. */
struct faults {
    uint32_t kind;      /* enum kind */
    uint32_t remaining; /* calls that still fail; UINT32_MAX: all */
    uint32_t slow_ms;   /* what a call takes with SLOW */
    uint32_t hits;      /* calls that were made to fail */
    uint32_t spared;    /* calls that still work before the first that fails */
    char patterns[236]; /* which files, below the folder: patterns with *, between them | */
};

static volatile struct faults *faults;

void read_faults(const char *file)
{
    int fd = open(file, O_RDWR | O_CLOEXEC);
    faults = mmap(0, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || faults == MAP_FAILED)
        abort();
}

int is_faulty(void)
{
    return faults && faults->kind != NONE;
}

static int matches(const char *pattern, const char *end, const char *text)
{
    for (; pattern < end; pattern++, text++) {
        if (*pattern == '*') {
            for (;; text++) {
                if (matches(pattern + 1, end, text))
                    return 1;
                if (!*text)
                    return 0;
            }
        }
        if (*pattern != *text)
            return 0;
    }
    return !*text;
}

enum kind fault(const char *path, enum deed deed)
{
    if (!is_faulty() || !*path)
        return NONE;
    enum kind kind = faults->kind;
    int fits = kind == FAIL_EIO || kind == SLOW || (kind == SHORT && deed == WRITES) ||
               (kind == FAIL_ENOSPC && (deed == MAKES || deed == WRITES || deed == GROWS)) ||
               (kind == FAIL_EROFS && deed != READS && deed != OPENS_TO_READ && deed != SYNCS);
    if (!fits)
        return NONE;
    const char *pattern = (const char *)faults->patterns;
    while (*pattern) {
        const char *end = strchrnul(pattern, '|');
        if (matches(pattern, end, path))
            break;
        pattern = *end ? end + 1 : end;
    }
    if (!*pattern)
        return NONE;
    if (faults->spared > 0) {
        __sync_fetch_and_sub(&faults->spared, 1);
        return NONE;
    }
    if (faults->remaining != UINT32_MAX && __sync_fetch_and_sub(&faults->remaining, 1) - 1 >= UINT32_MAX / 2) {
        faults->remaining = 0;
        return NONE;
    }
    __sync_fetch_and_add(&faults->hits, 1);
    if (kind == SLOW) {
        struct timespec pause = {faults->slow_ms / 1000, faults->slow_ms % 1000 * 1000000L};
        CALL(SYS_nanosleep, &pause, 0);
        return NONE;
    }
    return kind;
}

long error_of(enum kind kind)
{
    return kind == FAIL_EIO ? -EIO : kind == FAIL_ENOSPC ? -ENOSPC : -EROFS;
}
