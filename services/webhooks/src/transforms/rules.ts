import { createRecentMap } from '@stak/kit';
import { programAt, type Sandbox } from '@stak/sandbox';
import { createBudget, OverBudget } from '../filters/budget.ts';
import { compileFilter, type Filter, type FilterOutcome, type FilterStep } from '../filters/filter.ts';
import * as limits from '../filters/limits.ts';
import { findCostlyPart } from '../filters/regex.ts';
import { type HookRequest, type RequestView, viewRequest } from '../filters/request-view.ts';
import { type Filters, listRules } from '../filters/schema.ts';
import type { Connection } from '../main-table.ts';
import type { RulesInput, RulesOutput } from './rules-program.ts';
import type { Transform } from './schema.ts';
import { runScript } from './script.ts';
import {
  type CompiledTransform,
  compileTransform,
  type TransformFailure,
  type TransformOutcome,
  toFailure,
} from './transform.ts';

export type RulesOptions = { filter: boolean; trace?: boolean };

// Without `transformed`, the filters did not match.
type RulesOutcome = { ok: true; filter: FilterOutcome; transformed?: TransformOutcome } | TransformFailure;

// The part of a connection that is read. Rules that are not saved yet can be tried the same way.
export type RuleSet = Pick<Connection, 'filters' | 'transform' | 'userId'>;

export type Rules = {
  // Applies the filters and the transform of a connection to a request. Rejects if the stored rules cannot be read.
  run(connection: RuleSet, request: HookRequest, wanted: RulesOptions): Promise<RulesOutcome>;
};

// `unchanged` passes every request on as it is: most connections have no rules. `light` rules are compiled for this thread. Rules that may be costly are compiled in the sandbox only.
type Compiled = { unchanged?: true; script?: string; light?: Light };
type Light = { filter: Filter; transform: CompiledTransform | undefined; readsBody: boolean };

const everything: FilterOutcome = { matched: true, steps: [] };
const program = programAt('rules-program', import.meta.url);

// Cheap rules are evaluated at once, within a budget. If they exceed it, they start over in the sandbox.
export function createRules(sandbox: Pick<Sandbox, 'run'>): Rules {
  const seen = new WeakMap<RuleSet, Compiled>();
  const compiled = createRecentMap<string, Compiled>(limits.compiledRules);

  // By content: connections are read again every second, and many have the same rules.
  const compile = (connection: RuleSet): Compiled => {
    let known = seen.get(connection);
    if (known) return known;
    const { filters, transform } = connection;
    const isShort = filters.length + transform.length <= limits.lightRuleChars;
    const key = `${filters} ${transform}`;
    known = (isShort ? compiled.get(key) : undefined) ?? compileRules(filters, transform);
    if (isShort) compiled.set(key, known);
    seen.set(connection, known);
    return known;
  };

  async function runInSandbox(
    { filters, transform, userId }: RuleSet,
    { method, headers, query, body }: HookRequest,
    { wanted, isScript }: { wanted: RulesOptions; isScript: boolean },
  ): Promise<RulesOutcome> {
    const input: RulesInput = {
      filters: wanted.filter ? filters : '',
      transform: isScript ? '' : transform,
      trace: wanted.trace ?? false,
      method,
      headers: JSON.stringify(headers),
      query,
      body: new Uint8Array(body), // a view would send the whole buffer behind it
    };
    const reply = await sandbox.run({ program, input, timeoutMs: limits.sandboxMs }, userId);
    return reply.ok ? readOutput(reply.output as RulesOutput, body) : toFailure(reply);
  }

  return {
    async run(connection, request, wanted) {
      const { unchanged, script, light } = compile(connection);
      if (unchanged) return passOn(request);
      const view = viewRequest(request);
      const outcome =
        (light && isLightFor(light, request) ? runLight(light, view, wanted) : undefined) ??
        (await runInSandbox(connection, request, { wanted, isScript: script !== undefined }));
      if (!outcome.ok || !outcome.filter.matched || script === undefined) return outcome;
      const transformed = await runScript(sandbox, { code: script, view, account: connection.userId });
      return { ...outcome, transformed };
    },
  };
}

function compileRules(filterText: string, transformText: string): Compiled {
  const transform = JSON.parse(transformText) as Transform;
  const script = transform.type === 'javascript' ? transform.code : undefined;
  const ownChars = filterText.length + (script === undefined ? transformText.length : 0);
  if (ownChars > limits.lightRuleChars) return { script };
  const filters = JSON.parse(filterText) as Filters;
  if (filters.length === 0 && transform.type === 'passthrough') return { unchanged: true };
  // It may have been saved before such patterns were refused.
  const isCostly = filters
    .flatMap(listRules)
    .some(({ operator, value }) => operator === 'regex' && findCostlyPart(String(value)) !== undefined);
  if (isCostly) return { script };
  const compiled = transform.type === 'javascript' ? undefined : compileTransform(transform);
  const readsBody =
    transform.type === 'field_map' || filters.flatMap(listRules).some(({ field }) => field === 'body');
  return { script, light: { filter: compileFilter(filters), transform: compiled, readsBody } };
}

const passOn = ({ body }: HookRequest): RulesOutcome => ({
  ok: true,
  filter: everything,
  transformed: { ok: true, dropped: false, body },
});

const isLightFor = ({ readsBody }: Light, { body }: HookRequest): boolean =>
  !readsBody || body.length <= limits.lightBodyBytes;

// Undefined if it would take too long.
function runLight(
  { filter, transform }: Light,
  view: RequestView,
  { filter: isFiltered, trace = false }: RulesOptions,
): RulesOutcome | undefined {
  const budget = createBudget(limits.lightUnits);
  try {
    const outcome = isFiltered ? filter(view, { trace, budget }) : everything;
    return outcome.matched && transform
      ? { ok: true, filter: outcome, transformed: transform(view, budget) }
      : { ok: true, filter: outcome };
  } catch (error) {
    if (error instanceof OverBudget) return undefined;
    throw error;
  }
}

function readOutput(output: RulesOutput, received: Uint8Array): RulesOutcome {
  if ('overBudget' in output)
    return { ok: false, reason: 'time_limit', message: 'The rules read too much of this body' };
  const filter = { matched: output.matched, steps: JSON.parse(output.steps) as FilterStep[] };
  if (output.transformed === undefined) return { ok: true, filter };
  const transformed = JSON.parse(output.transformed) as TransformOutcome;
  if (!transformed.ok || transformed.dropped) return { ok: true, filter, transformed };
  // Without a body in the output, the received one is passed on unchanged, with its headers.
  return { ok: true, filter, transformed: { ...transformed, body: output.body ?? received } };
}
