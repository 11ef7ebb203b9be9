import { ConfigMap, isNotFound, Secret, type Client, type KubeObject } from '@slipway/kube';

import { names } from '../names.ts';

/** Fields of a ConfigMap or Secret of ours; an `undefined` one is not there. */
export type Fields = Readonly<Record<string, string | undefined>>;

interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** Where the operator keeps how far it is. */
export const recordPlaces = {
  installation: { namespace: names.operatorNamespace, name: names.installationStatus },
  deployment: { namespace: names.platformNamespace, name: names.deploymentStatus },
  apply: { namespace: names.operatorNamespace, name: names.operatorState },
} as const satisfies Record<string, Place>;

export async function readConfigMap(client: Client, place: Place): Promise<Record<string, string>> {
  return { ...(await client.get(ConfigMap, place))?.data };
}

/** Server-side apply: a field we no longer give goes, a field somebody else put there stays. */
export async function writeConfigMap(client: Client, place: Place, fields: Fields): Promise<void> {
  await write(client, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...place }, data: given(fields) });
}

/** The texts in a Secret. They stay texts: a password of digits is no number. */
export async function readSecret(client: Client, place: Place): Promise<Record<string, string>> {
  const data = (await client.get(Secret, place))?.data ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

export async function writeSecret(client: Client, place: Place, fields: Fields): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(given(fields)).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  await write(client, { apiVersion: 'v1', kind: 'Secret', metadata: { ...place }, type: 'Opaque', data });
}

/** A namespace that is missing is made; one that is there is left alone: the platform's own manifests say what is in it. */
async function write(client: Client, record: KubeObject): Promise<void> {
  const apply = async () => await client.apply(record, { fieldManager: names.fieldManager });
  try {
    await apply();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    await client.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: record.metadata.namespace! } },
      { fieldManager: `${names.fieldManager}-bootstrap` },
    );
    await apply();
  }
}

function given(fields: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
