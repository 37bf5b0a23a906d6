/* Turns system calls into a signal (SIGSYS) with a seccomp filter, and lets carry_out() do them in its handler. Unlike
 * replacing functions of the C library, that also catches what a program asks the kernel for directly, as Rust's rustix does
 * for rename.
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "trap.h"

/* The one place from which system calls pass the filter. */
extern char disk_syscall_end[];
__asm__(".text\n"
        ".globl disk_syscall\n"
        "disk_syscall:\n"
        "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n"
        "  mov %r8, %r10\n  mov %r9, %r8\n  mov 8(%rsp), %r9\n"
        "  syscall\n"
        ".globl disk_syscall_end\n"
        "disk_syscall_end:\n"
        "  ret\n");

static void on_trap(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    long a[] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                registers[REG_R10], registers[REG_R8],  registers[REG_R9]};
    registers[REG_RAX] = carry_out(info->si_syscall, a);
}

static const int watched[] = {
    SYS_write,    SYS_pwrite64, SYS_writev,    SYS_pwritev, SYS_open,   SYS_openat, SYS_creat,   SYS_ftruncate,
    SYS_fallocate, SYS_fsync,   SYS_fdatasync, SYS_rename,  SYS_renameat, SYS_renameat2, SYS_link, SYS_linkat,
    SYS_unlink,   SYS_rmdir,    SYS_unlinkat,  SYS_mkdir,   SYS_mkdirat, SYS_copy_file_range, SYS_sendfile,
};
#define WATCHED (sizeof watched / sizeof *watched)

void trap_calls(int reads)
{
    struct sock_filter code[80];
    int n = 0;
    uint64_t gate = (uint64_t)disk_syscall_end;
#define LOAD(what) code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define ARGUMENT(i) code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[i]))
#define IF_EQUAL(value, yes, no) code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_SET(bits, yes, no) code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define RETURN(value) code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, value)
    LOAD(instruction_pointer);
    IF_EQUAL((uint32_t)gate, 0, 3);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, instruction_pointer) + 4);
    IF_EQUAL((uint32_t)(gate >> 32), 0, 1);
    RETURN(SECCOMP_RET_ALLOW);
    LOAD(nr);
    for (size_t i = 0; i < WATCHED; i++) {
        IF_EQUAL((uint32_t)watched[i], 0, 1);
        RETURN(SECCOMP_RET_TRAP);
    }
    if (reads) {
        IF_EQUAL(SYS_read, 1, 0);
        IF_EQUAL(SYS_pread64, 0, 1);
        RETURN(SECCOMP_RET_TRAP);
    }
    /* Memory that is shared, written and of a file. */
    IF_EQUAL(SYS_mmap, 0, 6);
    ARGUMENT(2);
    IF_SET(PROT_WRITE, 0, 4);
    ARGUMENT(3);
    IF_SET(MAP_ANONYMOUS, 2, 0);
    IF_SET(MAP_SHARED, 0, 1);
    RETURN(SECCOMP_RET_TRAP);
    RETURN(SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = n, .filter = code};
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (sigaction(SIGSYS, &action, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        abort();
}
