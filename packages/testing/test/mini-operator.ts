import { ConfigMap, controllerReference, defineKind, Type, type KubeObject, type ObjectOf } from '@slipway/kube';
import { controller, requeueAfter, type Controller, type ReconcileContext } from '@slipway/runtime';

/** A shelf of books; each book is a ConfigMap. */
export const Shelf = defineKind({
  group: 'kit.slipway.dev',
  version: 'v1',
  kind: 'Shelf',
  scope: 'Namespaced',
  spec: Type.Object({ books: Type.Array(Type.String()) }),
  status: Type.Object({
    done: Type.Optional(Type.Array(Type.String())),
    refused: Type.Optional(Type.Array(Type.String())),
    runs: Type.Optional(Type.Integer()),
  }),
});
export type Shelf = ObjectOf<typeof Shelf>;

export const shelfLabel = 'kit.slipway.dev/shelf';
/** On a ConfigMap that is somebody else's book. */
export const lentBy = 'kit.slipway.dev/lent-by';

/**
 * `lostObject`: says what it has done before it does it, and believes itself after a crash. `goingOwner`: a second controller
 * stamps books with the edition it saw last. `refusedAdoption`: a second controller labels every book of the list, refused or
 * not. `hotLoop`: counts its runs in status, and every count is a change that makes it run.
 */
export type PlantedBug = 'lostObject' | 'goingOwner' | 'refusedAdoption' | 'hotLoop';

/** An operator small enough to be right, and one bug in it when asked for. */
export function miniOperator(bug?: PlantedBug): Controller[] {
  const shelves = controller({
    name: 'shelf',
    for: Shelf,
    owns: [ConfigMap],
    async reconcile(context, key) {
      const shelf = await context.client.get(Shelf, key);
      if (!shelf || shelf.metadata.deletionTimestamp !== undefined) return undefined;
      if (bug === 'goingOwner') await keepEdition(context, shelf);
      const refused = await putBooks(context, shelf, bug);
      await removeOthers(context, shelf);
      const runs = bug === 'hotLoop' ? { runs: (shelf.status?.runs ?? 0) + 1 } : {};
      if (bug !== 'lostObject') await context.client.setStatus(shelf, { refused, ...runs });
      return refused.length > 0 ? requeueAfter(60_000) : undefined;
    },
  });
  if (bug === 'goingOwner') return [shelves, secondController(stampWithEdition)];
  if (bug === 'refusedAdoption') return [shelves, secondController(labelEverything)];
  return [shelves];
}

async function putBooks(context: ReconcileContext, shelf: Shelf, bug: PlantedBug | undefined): Promise<string[]> {
  const { client } = context;
  const refused: string[] = [];
  const done = new Set(shelf.status?.done);
  if (bug === 'lostObject') await client.setStatus(shelf, { done: [...shelf.spec.books] });
  for (const name of shelf.spec.books) {
    if (bug === 'lostObject' && done.has(name)) continue;
    const live = await client.get(ConfigMap, { namespace: 'default', name });
    if (live?.metadata.annotations?.[lentBy] !== undefined) {
      refused.push(name);
      continue;
    }
    if (live?.metadata.labels?.[shelfLabel] !== undefined) continue;
    const ownerReferences = bug === 'goingOwner' ? {} : { ownerReferences: [controllerReference(shelf)] };
    await client.apply(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'default', name, labels: { [shelfLabel]: shelf.metadata.name! }, ...ownerReferences },
      },
      { fieldManager: 'shelf', force: true },
    );
  }
  return refused;
}

async function removeOthers({ client }: ReconcileContext, shelf: Shelf): Promise<void> {
  for await (const { metadata } of client.list(ConfigMap, { labelSelector: { [shelfLabel]: shelf.metadata.name! } })) {
    if (shelf.spec.books.includes(metadata.name!)) continue;
    await client.delete(
      ConfigMap,
      { namespace: 'default', name: metadata.name! },
      { preconditions: { uid: metadata.uid! } },
    );
  }
}

const editionOf = (shelf: { metadata: KubeObject['metadata'] }) => `edition-${shelf.metadata.generation}`;

/** One edition for the present generation; those before go without the books. */
async function keepEdition({ client }: ReconcileContext, shelf: Shelf): Promise<void> {
  const labels = { edition: 'true' };
  const key = { namespace: 'default', name: editionOf(shelf) };
  if (!(await client.get(ConfigMap, key)))
    await client.apply(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...key, labels } },
      { fieldManager: 'shelf' },
    );
  for await (const { metadata } of client.list(ConfigMap, { labelSelector: labels })) {
    if (metadata.name !== editionOf(shelf))
      await client.delete(ConfigMap, { namespace: 'default', name: metadata.name! }, { propagationPolicy: 'Orphan' });
  }
}

function secondController(act: (context: ReconcileContext, shelf: Shelf) => Promise<void>): Controller {
  return controller({
    name: 'second',
    for: Shelf,
    reads: [ConfigMap],
    async reconcile(context, key) {
      const shelf = await context.cache.get(Shelf, key);
      if (!shelf || shelf.metadata.deletionTimestamp !== undefined) return undefined;
      await act(context, shelf as Shelf);
      return requeueAfter(30_000);
    },
  });
}

async function stampWithEdition({ client }: ReconcileContext, shelf: Shelf): Promise<void> {
  const edition = await client.get(ConfigMap, { namespace: 'default', name: editionOf(shelf) });
  if (!edition) return;
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: edition.metadata.name!, uid: edition.metadata.uid! },
  ];
  for (const name of shelf.spec.books) {
    const live = await client.get(ConfigMap, { namespace: 'default', name });
    if (!live || live.metadata.annotations?.[lentBy] !== undefined) continue;
    if (live.metadata.ownerReferences?.[0]?.uid === edition.metadata.uid) continue;
    await client.patch(
      ConfigMap,
      { namespace: 'default', name },
      { type: 'merge', body: { metadata: { ownerReferences } } },
    );
  }
}

async function labelEverything({ client }: ReconcileContext, shelf: Shelf): Promise<void> {
  const labels = { [shelfLabel]: shelf.metadata.name! };
  for (const name of shelf.spec.books) {
    const live = await client.get(ConfigMap, { namespace: 'default', name });
    if (!live || live.metadata.labels?.[shelfLabel] !== undefined) continue;
    await client.patch(ConfigMap, { namespace: 'default', name }, { type: 'merge', body: { metadata: { labels } } });
  }
}
