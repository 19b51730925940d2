import { randomInt } from 'node:crypto';
import type { Context } from '../context.ts';
import { DynamoError, resourceNotFound } from '../errors.ts';
import type { ResourcePolicy, Table } from '../storage/table.ts';
import { parseArn } from '../tables/arns.ts';
import { knownTable } from '../tables/known-table.ts';
import {
  type DeleteResourcePolicyInput,
  type GetResourcePolicyInput,
  type PutResourcePolicyInput,
  validateDeleteResourcePolicy,
  validateGetResourcePolicy,
  validatePutResourcePolicy,
} from '../validation/table-extras.ts';

// A table and each of its streams can have a policy of their own.

type PolicyTarget = { table: Table; slot: string; policy?: ResourcePolicy };

export function getResourcePolicy(context: Context, input: GetResourcePolicyInput) {
  validateGetResourcePolicy(input);
  const { policy } = targetOf(context, input.ResourceArn);
  if (!policy) throw policyNotFound(input.ResourceArn);
  return { Policy: policy.text, RevisionId: policy.revision };
}

export async function putResourcePolicy(context: Context, input: PutResourcePolicyInput) {
  validatePutResourcePolicy(input);
  return context.submit(tx => {
    const target = targetOf(context, input.ResourceArn);
    checkRevision(target, input.ResourceArn, input.ExpectedRevisionId);
    const { table, slot, policy } = target;
    if (policy?.text === input.Policy) return { RevisionId: policy.revision };
    const next: ResourcePolicy = { text: input.Policy, revision: String(randomInt(2 ** 47)) };
    context.catalog.save(tx, { ...table, policies: { ...table.policies, [slot]: next } });
    return { RevisionId: next.revision };
  });
}

export async function deleteResourcePolicy(context: Context, input: DeleteResourcePolicyInput) {
  validateDeleteResourcePolicy(input);
  return context.submit(tx => {
    const target = targetOf(context, input.ResourceArn);
    checkRevision(target, input.ResourceArn, input.ExpectedRevisionId);
    const { table, slot, policy } = target;
    if (!policy) return { RevisionId: '' };
    const { [slot]: _, ...others } = table.policies!;
    context.catalog.save(tx, { ...table, policies: others });
    return { RevisionId: policy.revision };
  });
}

function targetOf(context: Context, arn: string): PolicyTarget {
  const { tableName, streamLabel } = parseArn(arn)!;
  const table = knownTable(context, tableName);
  if (streamLabel && !table.streams.some(({ label }) => label === streamLabel)) {
    throw resourceNotFound(
      `Requested resource not found: Stream: ${streamLabel} not found for Table: ${tableName}`,
    );
  }
  const slot = streamLabel ? `stream/${streamLabel}` : 'table';
  return { table, slot, policy: table.policies?.[slot] };
}

function checkRevision({ table, policy }: PolicyTarget, arn: string, expected: string | undefined): void {
  if (expected === undefined) return;
  if (expected === 'NO_POLICY') {
    if (!policy) return;
    throw policyNotFound(
      `Requested policy update expecting none to be present for table ${table.name}, but a policy exists with ` +
        `revision id ${policy.revision}.`,
    );
  }
  if (!policy) throw policyNotFound(arn);
  if (policy.revision === expected) return;
  throw policyNotFound(
    `Requested update for policy with revision id ${expected}, but the policy associated to target table ` +
      `${table.name} has revision id ${policy.revision}.`,
  );
}

const policyNotFound = (detail: string): DynamoError =>
  new DynamoError(
    'PolicyNotFoundException',
    `Resource-based policy not found for the provided ResourceArn: ${detail}`,
  );
