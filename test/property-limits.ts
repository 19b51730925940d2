import fc from 'fast-check';

// A property that fails on a large example may be made smaller for hours, in one turn that no timeout interrupts.
fc.configureGlobal({ interruptAfterTimeLimit: 60_000, markInterruptAsFailure: true });
