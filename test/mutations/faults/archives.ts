import type { Fault } from '../fault.ts';

// Archives that anybody may have written.

export const archiveFaults: readonly Fault[] = [
  {
    name: 'import-any-setting',
    file: 'apps/server/src/store/archive/ownership.ts',
    before: 'entity === connection ? oddSettingOf(values) : undefined',
    after: 'undefined',
    why: 'A connection of an archive tries ten thousand times without a pause',
    caughtBy: { test: 'apps/server/test/forged-values.test.ts', name: 'a connection' },
  },
  {
    name: 'import-counts-unsealed',
    file: 'apps/server/src/store/archive/selection.ts',
    before: "rule === 'records' ? isVerified :",
    after: "rule === 'records' ? true :",
    why: 'An archive that anybody wrote says how little was used and spent',
    caughtBy: {
      test: 'apps/server/test/forged-values.test.ts',
      name: 'is left out of an archive without a seal',
    },
  },
  {
    name: 'import-ends-in-the-middle',
    file: 'apps/server/src/store/archive/import-account.ts',
    before: '  await requireWritable(all, manifest, selection, (await openStored()).toStored);\n',
    after: '',
    why: 'An item that no store takes ends an import after half of it was written',
    caughtBy: {
      test: 'apps/server/test/forged-values.test.ts',
      name: 'is refused before anything is written',
    },
  },
  {
    name: 'import-any-seal',
    file: 'apps/server/src/store/archive/format.ts',
    before: 'return sealer.openText(manifest.seal, sealLocation) === digestOf(manifest);',
    after: 'return sealer.openText(manifest.seal, sealLocation) !== undefined;',
    why: 'A changed archive keeps the seal of another',
    caughtBy: { test: 'apps/server/test/forged-archive.test.ts', name: 'without a seal of this server' },
  },
  {
    name: 'import-forged-lock',
    file: 'apps/server/src/store/archive/ownership.ts',
    before:
      "      if (disagreesWithProfile(entity, values)) return refused('is not what the profile says');\n",
    after: '',
    why: 'An archive reserves the address of somebody who has no account yet',
    caughtBy: { test: 'apps/server/test/forged-archive.test.ts', name: 'nor reserve an address' },
  },
  {
    name: 'import-keys-disagree',
    file: 'apps/server/src/store/archive/ownership.ts',
    before: '    if (item[name] !== undefined && !ofEntity.has(name)) return undefined;\n',
    after: '',
    why: 'An item is listed in an index where its kind never is',
    caughtBy: { test: 'apps/server/test/forged-archive.test.ts', name: 'with a key of any index' },
  },
  {
    name: 'import-file-elsewhere',
    file: 'apps/server/src/store/archive/format.ts',
    before: 'if (entry && (!entry.isFile() || entry.size > mostBytes))',
    after: 'if (entry && entry.size > mostBytes)',
    why: 'An archive reads files elsewhere by a link',
    caughtBy: { test: 'apps/server/test/forged-archive.test.ts', name: 'has files in its folder only' },
  },
  {
    name: 'import-endless-line',
    file: 'apps/server/src/store/lines.ts',
    before:
      '    if (chars > mostChars) throw new UsageError(`a line is longer than ${mostChars} characters`);\n',
    after: '',
    why: 'A line of an archive that never ends fills the memory',
    caughtBy: { test: 'apps/server/test/forged-archive.test.ts', name: 'of limited size' },
  },
];
