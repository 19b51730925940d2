export { findProblem, type SchemaBounds } from './check.ts';
export { findMismatch, type JsonObject, type Mismatch, type Schema } from './match.ts';
