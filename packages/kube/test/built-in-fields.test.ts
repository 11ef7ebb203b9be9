import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { testCluster } from '@slipway/testing';
import { expect, test } from 'vitest';

import { coreKinds, kindText, type Kind } from '../src/index.ts';
import { servedType, servedTypes, type OpenApiDocument } from './served-types.ts';

const tsc = resolve(import.meta.dirname, '..', '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
const ours = resolve(import.meta.dirname, '..', 'src', 'kinds', 'builtin-objects.ts');

/**
 * The fields one type names and the other does not, all the way down, as paths. Nothing is said about parts that name no
 * fields, and about conditions, for which all built-in kinds share one type.
 */
const comparison = `
type Beyond<A, B, Path extends string> = A extends readonly (infer E)[]
  ? B extends readonly (infer F)[] ? Beyond<NonNullable<E>, NonNullable<F>, \`\${Path}[]\`> : never
  : A extends object
    ? B extends object
      ? B extends Leaf ? never : A extends Leaf ? never
      : string extends keyof A ? never : string extends keyof B ? never
      : { [K in keyof A & string]-?: K extends keyof B
          ? K extends 'conditions' ? never : Beyond<NonNullable<A[K]>, NonNullable<B[K]>, \`\${Path}.\${K}\`>
          : \`\${Path}.\${K}\` }[keyof A & string]
      : never
    : never;
type Told<Paths> = [Paths] extends [never] ? 'none' : Paths;
type Strange<Ours, Served, Kind extends string> = [Ours] extends [never] ? 'no type' : Told<Beyond<Ours, Served, Kind>>;
type Missing<Ours, Served, Kind extends string> = Told<Beyond<Served, Ours, Kind>>;
type Named<ApiVersion, Kind> = Extract<BuiltinObject, { apiVersion: ApiVersion; kind: Kind }>;
`;

/** Where the server describes the group and version of a kind. */
function pathOf({ group, version }: Kind): string {
  return group ? `/openapi/v3/apis/${group}/${version}` : `/openapi/v3/api/${version}`;
}

async function compilerErrors(file: string): Promise<string> {
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext'];
  const argv = [tsc, ...flags, '--allowImportingTsExtensions', '--noErrorTruncation', '--ignoreConfig', file];
  return await promisify(execFile)(process.execPath, argv, { maxBuffer: 1 << 26 }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}

test('the types of the built-in kinds name the fields the server has, and no others', async () => {
  await using cluster = await testCluster();
  const paths = new Set(coreKinds.map(pathOf));
  const documents = new Map<string, OpenApiDocument>();
  for (const path of paths)
    documents.set(path, (await cluster.client.request({ method: 'GET', path })) as OpenApiDocument);
  const checks = coreKinds.flatMap((kind, index) => {
    const served = servedType(documents.get(pathOf(kind))!, kind);
    expect({ kind: kindText(kind), served }).toEqual({ kind: kindText(kind), served: expect.any(String) as string });
    const types = `Named<'${kind.apiVersion}', '${kind.kind}'>, ${served}, '${kind.kind}'`;
    return [
      `export const strange${index}: Strange<${types}> = 'none';`,
      `export const missing${index}: Missing<${types}> = 'none';`,
    ];
  });
  const module = [
    `import type { BuiltinObject } from ${JSON.stringify(ours)};`,
    servedTypes([...documents.values()]),
    comparison,
    ...checks,
  ];
  const folder = await mkdtemp(join(tmpdir(), 'slipway-fields-'));
  try {
    await writeFile(join(folder, 'fields.ts'), module.join('\n'));
    expect(await compilerErrors(join(folder, 'fields.ts'))).toBe('');
  } finally {
    await rm(folder, { recursive: true });
  }
});
