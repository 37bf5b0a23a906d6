/* Which calls fail at present, and how. */
#ifndef FAULTS_H
#define FAULTS_H

enum kind { NONE, FAIL_EIO, FAIL_ENOSPC, FAIL_EROFS, SHORT, SLOW };

/* What a call does, as far as faults tell them apart. */
enum deed { READS, OPENS_TO_READ, OPENS_TO_WRITE, MAKES, WRITES, GROWS, SYNCS, RENAMES, REMOVES };

/* Reads from now on what fails from this file, which the test writes. */
void read_faults(const char *file);

/* Whether anything fails at present. */
int is_faulty(void);

/* Whether a fault meets this call; the path is that below the folder. A slow call is made slow here. */
enum kind fault(const char *path, enum deed deed);

/* What the kernel gives for it. */
long error_of(enum kind kind);

#endif
