import { type Clock, cutText, inSpan } from '@stak/kit';
import * as limits from '../limits.ts';
import { cleanText, cutBytes } from '../state/message-format.ts';
import { OutcomeUnknown, type Skill, type SkillResult, type SkillScope } from './skill.ts';

export type SkillOutcome =
  | { ok: true; result: SkillResult }
  | { ok: false; reason: string; isUnknown?: boolean }; // it may have been done

// Runs a skill within its time limit and cuts its output. A failed skill is a result, not an exception: the model or
// the user sees it.
export async function executeSkill(
  clock: Clock,
  skill: Skill,
  input: unknown,
  scope: SkillScope,
): Promise<SkillOutcome> {
  const parsed = skill.parameters.safeParse(input);
  if (!parsed.success) return { ok: false, reason: `Invalid arguments: ${issues(parsed)}` };
  if (skill.needs !== undefined && !isGranted(scope.granted, skill.needs))
    return { ok: false, reason: `The user's token does not hold the scope ${skill.needs}` };
  const { timeoutMs = limits.skillMs } = skill;
  const over = new AbortController();
  const late = new AbortController();
  const signal = AbortSignal.any([scope.signal, late.signal]);
  const timeout = clock.sleep(timeoutMs, over.signal).then(
    () => {
      late.abort(new Error(`it took longer than ${timeoutMs} ms`));
      throw late.signal.reason;
    },
    () => new Promise<never>(() => {}), // the skill was faster
  );
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': skill.name };
  try {
    const result = await inSpan(`execute_tool ${skill.name}`, { attributes, quietErrors: true }, () =>
      Promise.race([skill.run(parsed.data, { ...scope, signal }), timeout]),
    );
    return { ok: true, result: bounded(result) };
  } catch (error) {
    const reason = error instanceof Error ? cutText(error.message, 500) : 'it failed';
    if (!skill.acts || !(late.signal.aborted || error instanceof OutcomeUnknown))
      return { ok: false, reason };
    return { ok: false, reason: `${reason}, and it is not known whether it was done`, isUnknown: true };
  } finally {
    over.abort();
  }
}

// Tokens from before scopes had a service contain one word, which is valid for every service.
function isGranted(granted: string | undefined, needs: string): boolean {
  if (granted === undefined) return true;
  const held = granted.split(' ');
  const isReading = needs.endsWith(':read');
  return held.some(
    one => one === needs || one === 'admin' || one === 'write' || (isReading && one === 'read'),
  );
}

const issues = ({
  error,
}: {
  error: { issues: readonly { path: PropertyKey[]; message: string }[] };
}): string =>
  error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`)
    .join('; ');

function bounded({ data, text }: SkillResult): SkillResult {
  const json = JSON.stringify(data) ?? 'null';
  const isLong = Buffer.byteLength(json) > limits.skillOutputBytes;
  return {
    data: isLong
      ? { cut: true, text: cutBytes(json, limits.skillOutputBytes) }
      : (JSON.parse(json) as unknown),
    text: cutBytes(cleanText(text), limits.skillOutputBytes),
  };
}

export const sayFailed = (name: string, reason: string): string => `The skill ${name} failed: ${reason}`;
