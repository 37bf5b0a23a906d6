/* How system calls come to carry_out(), and how it makes them. */
#ifndef TRAP_H
#define TRAP_H

/* Makes a system call that is not trapped. Gives what the kernel does: an error is a negative number. */
long disk_syscall(long number, long a, long b, long c, long d, long e, long f);

#define CALL(number, ...) CALL_(number, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_(number, a, b, c, d, e, f, ...)                                                                            \
    disk_syscall(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* From now on, calls that change files come to carry_out(); with `reads`, those that read them too. */
void trap_calls(int reads);

/* Carries out a call that was trapped, and gives what the kernel would. */
long carry_out(long number, const long *arguments);

#endif
