import { withImport } from './with-import.ts';

/** The modules of a kind that gets its next version. */
export interface NextVersion {
  /** What was the newest version until now, such as `v1`. */
  readonly before: string;
  /** The module of that version alone. */
  readonly older: string;
  readonly newest: string;
  /** The module of the kind, in the newest version, with all others. */
  readonly api: string;
}

const versionLine = /^ {2}version: 'v(\d+)',$/m;
const versionsLine = /^ {2}versions: \[([^\]]*)\],\n/m;
const ownImports = /^import \{ \w+ \} from '\.\/api-v\d+\.ts';\n/gm;

/**
 * The modules of a kind after its next version, from the one it has. What was the kind becomes an older version in a module of
 * its own. Nothing when the module is not as slipway writes it.
 */
export function nextVersion(api: string, kind: string): NextVersion | undefined {
  const number = Number(versionLine.exec(api)?.[1]);
  const begin = `export const ${kind} = defineKind({`;
  if (Number.isNaN(number) || !api.includes(begin)) return undefined;
  const [before, newest] = [`v${number}`, `v${number + 1}`];
  const name = olderName(kind, before);
  const others = versionsLine.exec(api)?.[1];
  // Something that is no list: somebody has rewritten it.
  if (others === undefined && /^ {2}versions\b/m.test(api)) return undefined;
  // One that is too long for a line may have been formatted.
  const listed = (others ?? '').split(',').map((each) => each.trim());
  const versions = [`${name}.definition`, ...listed].filter(Boolean).join(', ');
  const older = api
    .replace(versionsLine, '')
    .replaceAll(ownImports, '')
    .replace(begin, `export const ${name} = defineKind({`)
    .replace(/\nexport type .*\n/, '')
    .replace(', type DeepReadonly, type ObjectOf', '')
    .replace(/^\/\*\* .* \*\/$/m, '/** An older version: it is served, and no longer stored. */')
    .replaceAll(/\n{3,}/g, '\n\n');
  const current = api
    .replace(versionLine, `  version: '${newest}',`)
    .replace(versionsLine, '')
    .replace(/^ {2}spec: /m, `  versions: [${versions}],\n  spec: `);
  return { before, older, newest, api: withImport(current, `import { ${name} } from './api-${before}.ts';`) };
}

/** `BoatV1`: what an older version of a kind is called in code. */
export function olderName(kind: string, version: string): string {
  return `${kind}${version.toUpperCase()}`;
}
