import { boundedRecord, nameSchemas } from '@stak/http';
import { z } from 'zod';
import { fileFormats } from './duckdb/duck.ts';
import * as limits from './limits.ts';

// Requests and responses of the API.

const text = z.string();
const count = z.int().nonnegative();
const freshness = {
  as_of: z.iso.datetime().describe('All changes before this time are included.'),
  lag_ms: count.describe('The age of the oldest change that is not included; 0 if there is none.'),
  caught_up: z.boolean().describe('Whether all changes are included.'),
};

const param = z.union([z.string().max(limits.paramChars), z.number(), z.boolean(), z.null()]);

export const queryBody = z.strictObject({
  sql: text.min(1).max(limits.sqlChars).describe('One SELECT over your own rows.'),
  params: z
    .union([
      z.array(param).max(limits.queryParams),
      boundedRecord(z.string().regex(/^\w{1,63}$/), param, limits.queryParams),
    ])
    .optional()
    .describe('Values of the placeholders: a list for `?` and `$1`, an object for `$name`.'),
});

export const exportBody = queryBody.extend({
  format: z
    .enum(fileFormats)
    .optional()
    .describe('`csv`, `arrow` (IPC stream) or `parquet`. By default what `Accept` asks for, else `csv`.'),
});

const column = z.strictObject({
  name: text.describe('The name of the column.'),
  type: text.describe('Its type in SQL.'),
});
export const queryResult = z.strictObject({
  columns: z.array(column).describe('The columns of the result.'),
  rows: z.array(z.array(z.unknown())).describe('The rows of the result.'),
  truncated: z.boolean().describe('Whether there were more rows than were returned.'),
  ...freshness,
});

// Shows the progress of the lake, but not the number of rows of all owners.
const tableStatus = z.strictObject({
  table: text.describe('The name of the table.'),
  last_commit_at: text.nullable().describe('When the last changes were written.'),
  backfill: z
    .strictObject({
      segments: z.int().describe('How many parts the table has.'),
      finished: z.int().describe('How many parts are copied.'),
    })
    .nullable()
    .describe('How far the copy of older items is.'),
  ...freshness,
});

export const lakeStatus = z.strictObject({
  tables: z.array(tableStatus).describe('The tables of the lake.'),
  views: z
    .array(
      z.strictObject({
        name: text.describe('The name of the view.'),
        description: text.describe('What the view holds.'),
        columns: z.array(column).describe('The columns of the view.'),
      }),
    )
    .describe('The views to query.'),
});

const enabled = z.boolean().describe('Whether texts are kept from now on.');
export const textsBody = z.strictObject({ enabled });
export const textsSetting = z.strictObject({
  enabled,
  since: z.iso.datetime().nullable().describe('Texts that are older are not kept; null if none are.'),
});

nameSchemas({ LakeColumn: column, LakeTexts: textsSetting });

export const historyParams = z.strictObject({
  table: z.string().min(1).max(100).describe('A table of SQL, such as `tasks`'),
  id: z.string().min(1).max(200).describe('The id of the row, such as a `task_id`'),
});
export const historyAnswer = z.strictObject({
  since: z.iso.datetime().describe('Earlier changes are not part of it'),
  data: z.array(
    z.strictObject({
      at: z.iso.datetime().describe('When it was written'),
      kind: z.enum(['insert', 'modify', 'remove']).describe('Whether the row began, changed or ended'),
      changes: z
        .array(
          z.strictObject({
            field: text.describe('The field'),
            before: z.unknown().describe('Its value before; null if it had none'),
            after: z.unknown().describe('Its value after; null if it has none'),
          }),
        )
        .describe('The fields that changed'),
    }),
  ),
  ...freshness,
});

export const insightList = z.strictObject({
  data: z
    .array(
      z.strictObject({
        name: text.describe('The name of the insight.'),
        description: text.describe('What it tells.'),
      }),
    )
    .describe('The insights.'),
});

export const insightParams = z.strictObject({
  name: z.string().min(1).max(100).describe('The name of the insight.'),
});
export const insightQuery = z.strictObject({
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(limits.insightDaysMost)
    .default(limits.insightDays)
    .describe('How many days back, including today.'),
});

export const insightAnswer = z.strictObject({
  name: text.describe('The name of the insight.'),
  whose: z
    .enum(['user', 'account', 'account_and_tenants'])
    .describe("Whose items are counted: the end user's, the account's, or also those of its tenants' users"),
  data: z.array(z.record(text, z.union([text, z.number(), z.null()]))).describe('The rows of the insight.'),
  ...freshness,
});
