import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { call, Call, temporaryFolder } from './kit.ts';

const workspace = resolve(import.meta.dirname, '..', '..', '..', 'node_modules', '@slipway');

/** An operator as somebody else writes it: a kind, a controller, a flag, a webhook. */
export const source = `
import { ConfigMap, defineKind, ready, Conditions, Type } from '@slipway/kube';
import { controller, deny, validatingWebhook } from '@slipway/runtime';

const Buoy = defineKind({
  group: 'sea.example.org',
  version: 'v1',
  kind: 'Buoy',
  scope: 'Namespaced',
  spec: Type.Object({ colour: Type.String() }),
  status: Type.Object({ conditions: Conditions }),
});

const buoys = (light) =>
  controller({
    name: 'buoy',
    for: Buoy,
    owns: [ConfigMap],
    async reconcile({ cache, client }, key) {
      const buoy = await cache.get(Buoy, key);
      if (!buoy) return;
      const data = { colour: buoy.spec.colour, light };
      await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key }, data }, { owner: buoy });
      await client.setStatus(buoy, { conditions: [ready(true, 'Afloat', 'it floats and shows its light')] });
    },
  });

export const buoyOperator = {
  name: 'buoy',
  title: 'Buoys',
  summary: 'Keeps buoys afloat.',
  kinds: [Buoy],
  permissions: [{ apiGroups: ['sea.example.org'], resources: ['buoys', 'buoys/status'], verbs: ['get', 'list', 'watch', 'patch'] }],
  flags: [{ name: 'light', description: 'what it shows', default: 'steady', type: 'string' }],
  webhooks: [
    validatingWebhook({
      name: 'validate.buoys.sea.example.org',
      kind: Buoy,
      validate: ({ object }) => (object.spec.colour === 'invisible' ? deny('nobody would see it') : undefined),
    }),
  ],
  examples: [
    {
      name: 'first',
      description: 'a red buoy',
      manifest: 'apiVersion: sea.example.org/v1\\nkind: Buoy\\nmetadata: { name: first, namespace: default }\\nspec: { colour: red }\\n',
    },
  ],
  reasons: [{ reason: 'Afloat', kind: 'Buoy', meaning: 'all is well', action: '' }],
  controllers: ({ flags }) => [buoys(flags.light)],
};
`;

export interface PackageFiles {
  readonly manifest?: object | string;
  readonly source?: string;
}

export const manifest = {
  name: '@sea/buoys',
  version: '1.4.0',
  type: 'module',
  exports: './index.js',
  slipway: { operator: 'buoyOperator' },
};

/** A project outside the workspace, with its dependencies installed. */
export async function outside(files: PackageFiles = {}) {
  const folder = await temporaryFolder();
  const home = join(folder.path, 'buoys');
  await mkdir(join(home, 'node_modules'), { recursive: true });
  await symlink(workspace, join(home, 'node_modules', '@slipway'));
  const written = files.manifest ?? manifest;
  await writeFile(join(home, 'package.json'), typeof written === 'string' ? written : JSON.stringify(written));
  await writeFile(join(home, 'index.js'), files.source ?? source);
  const options = { cwd: folder.path, env: { HOME: folder.path } };
  return {
    path: folder.path,
    slipway: (...argv: string[]) => call(argv, options),
    start: (...argv: string[]) => new Call(argv, options),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
