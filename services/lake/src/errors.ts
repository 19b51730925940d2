import { defineErrors } from '@stak/kit';

export const lakeErrors = defineErrors({
  'lake.sql_invalid': 400,
  'lake.sql_forbidden': 400,
  'lake.sql_failed': 400,
  'lake.query_too_large': 400,
  'lake.query_too_slow': 400,
  'lake.insight_not_found': 404,
  'lake.table_not_found': 404,
  'lake.file_not_found': 404,
  'lake.range_not_satisfiable': 416,
  'lake.busy': 503,
});
