import manifest from '../../package.json' with { type: 'json' };

declare const STAK_COMMIT: string | undefined; // build.mjs puts it there, where it knows the commit

/** The version of this server and the commit that it was built from, which sources do not know. */
export const { version } = manifest;
export const commit: string | undefined = typeof STAK_COMMIT === 'undefined' ? undefined : STAK_COMMIT;

/** Like `0.2.0+59ea8c213192`, as Semantic Versioning writes the build. */
export const versionText: string = commit === undefined ? version : `${version}+${commit}`;
