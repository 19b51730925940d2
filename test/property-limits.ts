import fc from 'fast-check';

// Random tests do enough to find a fault that is there, for `npm test`, which everybody waits for. STAK_LONG_TESTS=1
// gives properties, models and seeds several times as many runs; each says beside its number how many. With it, all of
// the accounts' suites go over the AWS SDK, too.

// A property that fails on a large example may be made smaller for hours, in one turn that no timeout interrupts.
fc.configureGlobal({ interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true });
