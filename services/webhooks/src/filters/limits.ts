// A customer writes the rules and a stranger sends the body. Rules run on the shared event loop only within the first few
// limits, and otherwise in the sandbox.

export const lightUnits = 20_000; // of a budget: about a millisecond
export const lightRuleChars = 4 * 1024; // compiling them takes up to three milliseconds, once
export const lightBodyBytes = 64 * 1024; // parsing it takes half a millisecond
export const sandboxUnits = 20_000_000; // about a second
export const sandboxMs = 2_000; // of processor time; then the thread is terminated
export const sandboxRules = 100; // compiled, in each thread of the sandbox
export const compiledRules = 500; // most have a few hundred characters

export const rules = 50; // in all groups together
export const groups = 50; // a group for each rule
export const groupDepth = 3; // an `or` of `and`s of `not`s: deeper groups are hard to read
export const pathChars = 256;
export const pathSegments = 16;
export const widePaths = 10; // with `..`, `*` or `[?…]`: each may visit every value of the body
export const predicateTerms = 8; // in one `[?…]`, evaluated for every element
export const valueChars = 1_024;
export const searchedChars = 200; // of a text that is looked for: a longer one may be compared at every position
export const regexRules = 5;
export const regexChars = 256;
export const regexExpanded = 1_000; // instructions if every count is written out; RE2 compiles these in milliseconds
export const regexFoldedChars = 2_000; // in ranges like (?i)[a-z]: RE2 looks up the other case of each
export const regexUnicodeClasses = 10; // \pL alone is six hundred ranges
export const regexProgram = 300; // instructions; time is text times program, and this leaves 20 ms for the text below
export const regexStepsPerUnit = 16; // characters times instructions, of a budget
export const regexTextChars = 16 * 1024; // over all values that one rule tests
export const whyChars = 200; // of an explanation, which quotes the request
