// Escaping for SQL. Every value that is not ours goes through one of these two.

export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

export const readFiles = (paths: readonly string[]): string =>
  `read_parquet([${paths.map(quoteText).join(', ')}], union_by_name = true, hive_partitioning = false)`;
