/**
 * Typos that must not compile, and what must. The compiler runs this file (`npm run check:types`): an error it expects and does
 * not find is an error too.
 */
import {
  type Client,
  type ConfigMap,
  type DeepReadonly,
  defineKind,
  Deployment,
  type KubeObject,
  newObject,
  type Pod,
  Type,
  unchecked,
} from '@slipway/kube';

const metadata = { name: 'web', namespace: 'shop' };
const labels = { app: 'web' };
const selector = { matchLabels: labels };
const containers = [{ name: 'web', image: 'nginx:1.29' }];
const template = { metadata: { labels }, spec: { containers } };

export async function whatIsCreatedInPlace(client: Client): Promise<void> {
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata } as const;
  const strategy = { type: 'Recreate' } as const;
  await client.create({ ...deployment, spec: { replicas: 2, selector, template, strategy } });
  await client.create({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    // @ts-expect-error misspelt
    spec: { replcias: 2, selector, template },
  });
  // @ts-expect-error no number
  await client.create({ ...deployment, spec: { replicas: 'two', selector, template } });
  // @ts-expect-error the template is missing
  await client.create({ ...deployment, spec: { selector } });
  // @ts-expect-error misspelt at the top
  await client.create({ ...deployment, sepc: { selector, template } });
  await client.create({
    ...deployment,
    // @ts-expect-error misspelt far below, in a list
    spec: { selector, template: { spec: { containers: [{ name: 'a', imgae: 'b' }] } } },
  });
  // @ts-expect-error no such strategy
  await client.create({ ...deployment, spec: { selector, template, strategy: { type: 'Rolling' } } });
  // @ts-expect-error misspelt
  await client.update({ apiVersion: 'v1', kind: 'ConfigMap', metadata, dtaa: { a: 'b' } });
}

export async function whatIsAppliedInPlace(client: Client): Promise<void> {
  // Server-side apply may name any part of an object.
  await client.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 2 } });
  // @ts-expect-error misspelt
  await client.apply({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replcias: 2 } });
}

export function whatIsNamed(): Deployment[] {
  const named: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    // @ts-expect-error misspelt
    spec: { replcias: 2, selector, template },
  };
  return [
    named,
    newObject(Deployment, { metadata, spec: { replicas: 2, selector, template } }),
    // @ts-expect-error misspelt
    newObject(Deployment, { metadata, spec: { replcias: 2, selector, template } }),
  ];
}

export function whatIsRead(pod: DeepReadonly<Pod>, map: ConfigMap): unknown[] {
  // @ts-expect-error misspelt
  return [pod.status?.phase, pod.spec?.containers[0]?.image, map.data?.['any'], pod.status?.pahse];
}

/** Kinds of others, unstructured objects and generic code are asked for nothing. */
export async function whatIsNotKnown<T extends KubeObject>(client: Client, object: T, raw: KubeObject): Promise<T> {
  await client.create({ apiVersion: 'example.com/v1', kind: 'Website', metadata, spec: { anything: true } });
  await client.apply(raw);
  return await client.update(object);
}

/** The one way around. */
export async function whatIsNewer(client: Client): Promise<Deployment> {
  await client.create(unchecked({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ofTomorrow: true }));
  return unchecked<Deployment>({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { ofTomorrow: true } });
}

const Website = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  spec: Type.Object({ image: Type.String(), replicas: Type.Integer() }),
});

export const ownKinds = [
  newObject(Website, { metadata, spec: { image: 'nginx', replicas: 2 } }),
  // @ts-expect-error misspelt
  newObject(Website, { metadata, spec: { image: 'nginx', replicas: 2, imgae: 'nginx' } }),
  // @ts-expect-error misspelt at the top
  newObject(Website, { metadata, spec: { image: 'nginx', replicas: 2 }, statsu: {} }),
];
