import { createHash } from 'node:crypto';

/** Everything that happens in a run, line by line. Two runs of one seed have the same lines. */
export type History = {
  note(line: string): void;
  hash(): string;
  lines: readonly string[];
};

export function createHistory(elapsedMs: () => number): History {
  const hash = createHash('sha256');
  const lines: string[] = [];
  return {
    lines,
    note(text) {
      const line = `${elapsedMs()} ${text}`;
      hash.update(`${line}\n`);
      lines.push(line);
    },
    hash: () => hash.copy().digest('hex').slice(0, 16),
  };
}

const shownMost = 60;
// Crashes, faults and what users did say more than calls that went well.
const isTelling = (line: string) =>
  / (?:kill|freeze|thaw|ambush|start|step|roll|heal|request|send|fault)\b/.test(line);

/** The lines that mention one of the names, or tell of a crash: short enough to be read. */
export function shorten({ lines }: Pick<History, 'lines'>, names: readonly string[]): string[] {
  const mentions = lines.filter(line => names.some(name => line.includes(name)));
  const telling = mentions.filter(isTelling);
  const chosen = new Set((telling.length > 0 ? telling : mentions).slice(-shownMost));
  return lines
    .filter(line => chosen.has(line) || / (?:kill|freeze|thaw|start|roll|heal) /.test(line))
    .slice(-shownMost);
}
