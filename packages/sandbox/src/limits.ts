import { availableParallelism } from 'node:os';

export const threads = Math.min(4, Math.max(2, availableParallelism())); // two, so that a hung job leaves one
export const threadHeapMb = 64;
export const threadStackMb = 16; // address space only: what a program checks itself has to strike before the thread's end
export const startMs = 10_000; // for a thread to load a program on a busy machine; 100 ms when quiet
export const graceMs = 500; // beyond a job's own time, for programs that look at the clock; then the thread is ended
export const waiting = 500; // jobs of all accounts: ten seconds of work for two threads at 40 ms each
export const waitingOfAccount = 100; // of these: an account whose jobs hang does not fill the queue for everybody
export const waitMs = 5_000; // then a job is sent back: what it is for may have a lease, and somebody else's turn comes sooner
export const idleMs = 60_000; // then the threads are ended and their memory is returned
export const messageBytes = 4 * 1024 * 1024; // in or out: the largest event several times over
