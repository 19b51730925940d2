import type { Context } from '../context.ts';
import { resourceNotFound } from '../errors.ts';
import type { Insights, Table } from '../storage/table.ts';
import { knownTable } from '../tables/known-table.ts';
import {
  type DescribeContributorInsightsInput,
  type ListContributorInsightsInput,
  type UpdateContributorInsightsInput,
  validateDescribeContributorInsights,
  validateListContributorInsights,
  validateUpdateContributorInsights,
} from '../validation/table-extras.ts';

// The setting is stored for the tools that set it; nothing is measured.

export function describeContributorInsights(context: Context, input: DescribeContributorInsightsInput) {
  validateDescribeContributorInsights(input);
  const table = tableWithIndex(context, input);
  const insights = table.insights?.[input.IndexName ?? ''];
  return {
    TableName: table.name,
    ...(input.IndexName && { IndexName: input.IndexName }),
    ContributorInsightsStatus: insights?.enabled ? 'ENABLED' : 'DISABLED',
    ...(insights && {
      ContributorInsightsRuleList: insights.enabled ? rulesOf(table, input.IndexName) : [],
      ContributorInsightsMode: insights.mode,
      LastUpdateDateTime: insights.changedAt / 1000,
    }),
  };
}

export async function updateContributorInsights(context: Context, input: UpdateContributorInsightsInput) {
  validateUpdateContributorInsights(input);
  const enabled = input.ContributorInsightsAction === 'ENABLE';
  return context.submit(tx => {
    const table = tableWithIndex(context, input);
    const slot = input.IndexName ?? '';
    const mode =
      input.ContributorInsightsMode ?? table.insights?.[slot]?.mode ?? 'ACCESSED_AND_THROTTLED_KEYS';
    const next: Insights = { enabled, mode, changedAt: context.now() };
    context.catalog.save(tx, { ...table, insights: { ...table.insights, [slot]: next } });
    return {
      TableName: table.name,
      ...(input.IndexName && { IndexName: input.IndexName }),
      ContributorInsightsStatus: enabled ? 'ENABLING' : 'DISABLING',
      ContributorInsightsMode: mode,
    };
  });
}

export function listContributorInsights(context: Context, input: ListContributorInsightsInput) {
  validateListContributorInsights(input);
  const tables =
    input.TableName === undefined ? context.catalog.list() : [knownTable(context, input.TableName)];
  return {
    ContributorInsightsSummaries: tables.flatMap(({ name, insights, indexes }) =>
      Object.entries(insights ?? {})
        .filter(([index]) => index === '' || indexes.some(existing => existing.name === index))
        .map(([index, { enabled, mode }]) => ({
          TableName: name,
          ...(index && { IndexName: index }),
          ContributorInsightsStatus: enabled ? 'ENABLED' : 'DISABLED',
          ContributorInsightsMode: mode,
        })),
    ),
  };
}

function tableWithIndex(context: Context, { TableName, IndexName }: DescribeContributorInsightsInput): Table {
  const table = knownTable(context, TableName);
  const isGlobal = table.indexes.some(({ name, kind }) => name === IndexName && kind === 'global');
  if (IndexName !== undefined && !isGlobal) {
    throw resourceNotFound(
      `Requested resource not found: Index: ${IndexName} not found for table: ${TableName}`,
    );
  }
  return table;
}

const rulesOf = (table: Table, index: string | undefined): string[] =>
  ['PKC', 'PKT'].map(
    rule => `DynamoDBContributorInsights-${rule}-${table.name}${index ? `-${index}` : ''}-${table.createdAt}`,
  );
