// What a customer's transform may use. Scripts run in threads of their own, mappings on the event loop.

export const codeChars = 64 * 1024;
export const scriptMs = 1_000; // wall time; a thousand times what reshaping a body takes
export const graceMs = 500; // then the thread is ended: a native call may not look at the clock
export const startMs = 10_000; // for a thread to load the interpreter on a busy machine; 100 ms when quiet
export const memoryBytes = 48 * 1024 * 1024; // the interpreter starts with 16 MB of it; 256 KB of JSON takes about 5
export const stackBytes = 256 * 1024; // well inside the interpreter's own stack of a few megabytes
export const threads = 2; // one hung script leaves one; each holds 30 to 70 MB while in use
export const threadHeapMb = 48; // of the thread around the interpreter
export const threadStackMb = 16; // address space only: the interpreter's own check has to strike before the thread's
export const scriptsWaiting = 500; // ten seconds of work for two threads at 40 ms each
export const scriptsOfLane = 100; // of these: a customer whose scripts hang does not fill the line for everybody
export const idleMs = 60_000; // then the threads are ended and their memory is returned
export const outputBytes = 512 * 1024; // twice the largest body received
export const outputDepth = 100; // printing is recursive, here and at the receiver
export const messageChars = 500; // of an error thrown by a script
export const outputHeaders = 50;
export const outputHeaderChars = 8 * 1024; // all of them; destinations refuse more than 8 to 16 KB

export const mappings = 50;
export const templateChars = 1_000;
export const templateValues = 10;
export const targetIndex = 99; // an array that a mapping starts at its end would be mostly holes
