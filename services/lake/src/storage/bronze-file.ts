import { keyPart } from './objects.ts';

// A file of bronze, as the manifest stores it.
export type BronzeFile = {
  path: string;
  entity: string;
  day: string;
  rows: number;
  bytes: number;
  isChained: boolean;
  firstAt: number; // of its oldest change
  format?: number; // of its columns; older files have none
  replacesTexts?: true; // some of its rows remove or replace texts, which must not stay in other files for long
};

// Since format 2 all bronze files have the same types, so one table of Iceberg can hold them all.
export const bronzeFormat = 2;
// Merged files have always had these types.
export const hasBronzeFormat = ({ format, path }: BronzeFile): boolean =>
  format === bronzeFormat || path.includes('/merged-');

export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const bronzePath = (table: string, entity: string, day: string, name: string): string =>
  `bronze/table=${keyPart(table)}/entity=${keyPart(entity)}/day=${day}/${name}.parquet`;
