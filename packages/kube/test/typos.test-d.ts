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
  type ObjectOf,
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

const own = { group: 'example.com', version: 'v1', kind: 'Website', scope: 'Namespaced' } as const;

const Website = defineKind({
  ...own,
  spec: Type.Object({
    image: Type.String(),
    replicas: Type.Integer({ minimum: 0, default: 1 }),
    pages: Type.Array(Type.Object({ path: Type.String(), cached: Type.Boolean({ default: true }) })),
    host: Type.Optional(Type.String()),
  }),
});

export const ownKinds = [
  newObject(Website, { metadata, spec: { image: 'nginx', replicas: 2, pages: [{ path: '/', cached: false }] } }),
  // What has a default need not be given, also further below.
  newObject(Website, { metadata, spec: { image: 'nginx', pages: [{ path: '/' }] } }),
  // @ts-expect-error the image has no default
  newObject(Website, { metadata, spec: { pages: [] } }),
  // @ts-expect-error misspelt
  newObject(Website, { metadata, spec: { image: 'nginx', pages: [], imgae: 'nginx' } }),
  // @ts-expect-error misspelt at the top
  newObject(Website, { metadata, spec: { image: 'nginx', pages: [] }, statsu: {} }),
];

/** What was read has its defaults. */
export const read = (site: ObjectOf<typeof Website>): number => site.spec.replicas + 1;

export const schemas = [
  // @ts-expect-error fields without Type.Object
  defineKind({ ...own, spec: { image: Type.String() } }),
  // @ts-expect-error the function instead of what it gives
  defineKind({ ...own, spec: Type.Object({ image: Type.String }) }),
  // @ts-expect-error a name instead of a schema, in a list
  defineKind({ ...own, spec: Type.Object({ pages: Type.Array(Type.Object({ path: 'string' })) }) }),
  // @ts-expect-error no schema of a status
  defineKind({ ...own, status: { phase: 'string' } }),
  // A schema of JSON, on its own responsibility.
  defineKind({
    ...own,
    spec: Type.Unsafe<{ image: string }>({ type: 'object', properties: { image: { type: 'string' } } }),
  }),
];
