import type { Client } from '@slipway/kube';
import { stringify } from 'yaml';

import { names } from '../names.ts';
import { readSecret, writeSecret } from '../state/records.ts';
import type { Tree } from '../values/tree.ts';
import { parseYaml } from '../values/yaml-file.ts';

const place = { namespace: names.platformNamespace, name: names.passwords };

/** Every secret made so far, as a tree: one YAML text under one key. A crash of the installation comes back to them. */
export async function storedSecrets(client: Client): Promise<Tree> {
  const { [names.passwords]: text } = await readSecret(client, place);
  return (text === undefined ? undefined : parseYaml(text, `Secret ${place.namespace}/${place.name}`)) ?? {};
}

export async function storeSecrets(client: Client, secrets: Tree): Promise<void> {
  await writeSecret(client, place, { [names.passwords]: stringify(secrets, { lineWidth: 0 }) });
}
