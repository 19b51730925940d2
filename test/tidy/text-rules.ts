import { posix } from 'node:path';
import { type Files, findAll, isSource, isTidy, placeOf, type Rule } from './repository.ts';

// npm takes its own default registry when the lockfile names none, so no mirror gets pinned by accident.
export const noDownloadAddresses: Rule = files =>
  [...files].flatMap(([path, text]) => {
    if (/(^|\/)(package-lock|npm-shrinkwrap)\.json$/.test(path))
      return findAll(path, text, /"resolved":\s*"(?:https?|git|ssh)[:+]/g, 'names a download address');
    if (/(^|\/)\.npmrc$/.test(path)) return findAll(path, text, /registry\s*=|_auth/g, 'names a registry');
    return [];
  });

type Lock = { packages?: Record<string, { hasInstallScript?: boolean }> };
type Manifest = { allowScripts?: Record<string, boolean> };

// npm 11 runs no install script that nobody has decided on, and complains of each after every install. We need none:
// what is native comes prebuilt in packages of its own.
export const noInstallScripts: Rule = files => {
  const lock = JSON.parse(files.get('package-lock.json') ?? '{}') as Lock;
  const { allowScripts = {} } = JSON.parse(files.get('package.json') ?? '{}') as Manifest;
  return Object.entries(lock.packages ?? {})
    .filter(([, one]) => one.hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
    .filter(name => allowScripts[name] !== false)
    .map(name => `package.json: allowScripts does not deny the install script of ${name}`);
};

const machinePath = /(?<![\w.:/~-])\/(?:work|root|home|tmp|Users)\/(?=[\w.$%{-])/g;

export const noMachinePaths: Rule = files =>
  [...files].flatMap(([path, text]) =>
    path === 'package-lock.json' || isTidy(path)
      ? []
      : findAll(path, text, machinePath, 'a path of one machine (tests use os.tmpdir())'),
  );

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');
const withoutFences = (markdown: string): string => markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, blank);
const withoutCode = (markdown: string): string => withoutFences(markdown).replace(/`[^`\n]*`/g, blank);

export const linksResolve: Rule = files => {
  const folders = new Set([...files.keys()].flatMap(parents));
  const complaints: string[] = [];
  for (const [path, text] of files) {
    if (isSource(path) && !isTidy(path)) complaints.push(...missingDocuments(files, path, text));
    if (!path.endsWith('.md')) continue;
    for (const match of withoutCode(text).matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm)) {
      const link = match[1] ?? match[2]!;
      if (/^[a-z][a-z+.-]*:/i.test(link)) continue; // another site
      const [target = '', anchor] = decodeURI(link).split('#');
      const file =
        target === '' ? path : posix.normalize(posix.join(posix.dirname(path), target)).replace(/\/$/, '');
      const place = placeOf(path, text, match.index);
      if (!files.has(file) && !folders.has(file)) complaints.push(`${place}: ${link} leads nowhere`);
      else if (anchor && file.endsWith('.md') && !headings(files, file).has(anchor))
        complaints.push(`${place}: ${link} names no heading`);
    }
  }
  return complaints;
};

// Comments refer to decisions by path.
const missingDocuments = (files: Files, path: string, text: string): string[] =>
  [...text.matchAll(/(?<![\w./-])docs\/[\w./-]+\.md\b/g)]
    .filter(match => !files.has(match[0]))
    .map(match => `${placeOf(path, text, match.index)}: ${match[0]} leads nowhere`);

// Documents about the code name files by the end of their path, such as `delivery/queue.ts`.
const aboutCode =
  /^(?:docs\/(?:[A-Z]+|adr\/[^/]+)|CONTRIBUTING|(?:packages|services|apps)\/[^/]+\/README)\.md$/;

export const namedFilesExist: Rule = files => {
  const ends = new Set([...files.keys()].flatMap(endsOf));
  return [...files].flatMap(([path, text]) =>
    aboutCode.test(path)
      ? [...withoutFences(text).matchAll(/`([\w@./-]+\.(?:tsx?|mjs))`/g)]
          .filter(([, name = '']) => !ends.has(name.replace(/^\.\//, '')))
          .map(match => `${placeOf(path, text, match.index)}: there is no ${match[1]}`)
      : [],
  );
};

function endsOf(path: string): string[] {
  const parts = path.split('/');
  return parts.map((_, i) => parts.slice(i).join('/'));
}

// Each package and service explains itself, and begins with an example.
export const readmes: Rule = files =>
  [...files.keys()].flatMap(path => {
    const folder = /^((?:packages|services)\/[^/]+)\/package\.json$/.exec(path)?.[1];
    if (folder === undefined) return [];
    const text = files.get(`${folder}/README.md`);
    if (text === undefined) return [`${folder} has no README.md`];
    const [beginning = ''] = text.split(/^## /m);
    return /^```tsx?$/m.test(beginning) ? [] : [`${folder}/README.md does not begin with an example`];
  });

function parents(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? ['.'] : [folder, ...parents(folder)];
}

// The anchors GitHub gives to headings.
function headings(files: Files, path: string): Set<string> {
  const titles = withoutFences(files.get(path)!).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm);
  return new Set(
    [...titles].map(title =>
      title[1]!
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}
