import { availableParallelism } from 'node:os';

export const threads = Math.min(4, Math.max(2, availableParallelism())); // two, so that one is left if a job hangs
export const threadHeapMb = 64;
export const threadStackMb = 16; // address space only: a program's own check must fail before the thread's stack ends
export const startMs = 10_000; // for a thread to load a program on a busy machine; 100 ms when quiet
export const graceMs = 500; // after a job's time, for programs that ask whether it is over; then the thread is terminated
export const lateMs = 10_000; // then a job is given up that the machine had no time for; a fraction of a delivery's lease
export const tickMs = 10; // of a thread's processor time, which Linux tells in hundredths of a second: see proc_pid_stat(5)
export const waiting = 500; // jobs of all accounts: ten seconds of work for two threads at 40 ms each
export const waitingOfAccount = 100; // of these: an account whose jobs hang does not fill the queue for others
export const waitMs = 5_000; // then a job is refused: its caller may hold a lease, and another process may be able to run it sooner
export const idleMs = 60_000; // then the threads are terminated and their memory is returned
export const messageBytes = 4 * 1024 * 1024; // input or output: several times the largest event
