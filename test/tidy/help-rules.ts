import { resolveRelative } from './packages.ts';
import { type Files, placeOf, type Rule } from './repository.ts';

// Everything that a package for others exports has a comment that an editor shows.

const libraries = /'([\w-]+)'/g;
const declaration = (name: string): RegExp =>
  new RegExp(
    String.raw`^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|class|type|interface) ${name}\b`,
    'm',
  );
// A comment for those who read the source may stand between it and the declaration.
const help = /\*\/\n(?:\/\/.*\n)*$/;

export const publicHelp: Rule = files =>
  published(files).flatMap(folder =>
    entries(files, folder).flatMap(entry =>
      exportedNames(files.get(entry) ?? '').flatMap(name => {
        const found = find(files, entry, name);
        if (!found) return [`${entry}: ${name} is not found`];
        const text = files.get(found.path)!;
        return help.test(text.slice(0, found.index))
          ? []
          : [`${placeOf(found.path, text, found.index)}: ${name} has no comment that an editor shows`];
      }),
    ),
  );

// Those that scripts/pack.ts makes a package of.
function published(files: Files): string[] {
  const list = /const libraries = \[([^\]]*)\]/.exec(files.get('scripts/pack.ts') ?? '')?.[1] ?? '';
  return [...list.matchAll(libraries)].map(([, name]) => `packages/${name}`);
}

function entries(files: Files, folder: string): string[] {
  const { exports = {} } = JSON.parse(files.get(`${folder}/package.json`) ?? '{}') as {
    exports?: Record<string, string>;
  };
  return Object.entries(exports)
    .filter(([name, path]) => name !== './generator' && /^\.\/src\/.*\.tsx?$/.test(path))
    .map(([, path]) => resolveRelative(`${folder}/package.json`, path));
}

type Exported = { name: string; original: string; from?: string };

function listed(text: string): Exported[] {
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?/gm)].flatMap(
    ([, names = '', from]) =>
      names
        .replaceAll(/\/\/.*/g, '')
        .split(',')
        .map(one => one.trim().replace(/^type /, ''))
        .filter(one => one !== '')
        .map(one => {
          const [original = '', name = original] = one.split(' as ');
          return { name, original, ...(from !== undefined && { from }) };
        }),
  );
}

const exportedNames = (text: string): string[] => [
  ...listed(text).map(({ name }) => name),
  ...[
    ...text.matchAll(/^export (?:async )?(?:abstract )?(?:function\*?|const|class|type|interface) (\w+)/gm),
  ].map(([, name]) => name!),
];

function find(files: Files, path: string, name: string): { path: string; index: number } | undefined {
  const text = files.get(path);
  if (text === undefined) return undefined;
  const own = declaration(name).exec(text);
  if (own) return { path, index: own.index };
  const passed = listed(text).find(one => one.name === name);
  if (!passed?.from?.startsWith('.')) return undefined;
  return find(files, resolveRelative(path, passed.from), passed.original);
}
