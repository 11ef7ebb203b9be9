import assert from 'node:assert/strict';

import { ManagedControlPlane } from '../api/managed-control-plane.ts';
import { dependencyFinalizer, finalizer, kindOf } from '../component/component-type.ts';
import { healthyType, reconciliationType } from '../component/conditions.ts';
import { names, operations } from '../names.ts';
import { allTypes, changesFinalizers, ContractStage, type ContractSubject, pathOf } from './contract-stage.ts';

/** One sentence of the contract, and how it is checked. */
export interface ContractCheck {
  /** The heading of the contract it stands under. */
  readonly heading: string;
  readonly sentence: string;
  /** Throws when the component does not keep it. */
  run(stage: ContractStage): Promise<void>;
}

/** Checks one sentence against a component, on a cluster of its own. */
export async function checkContract(check: ContractCheck, subject: ContractSubject): Promise<void> {
  await using stage = await ContractStage.open(subject);
  await check.run(stage);
}

async function live(stage: ContractStage): Promise<void> {
  await stage.createDependencies();
  await stage.createOwn();
  await stage.settled();
}

const foreign = `${names.dependencyFinalizerPrefix}somebody`;

async function pin(stage: ContractStage): Promise<void> {
  const { finalizers = [] } = (await stage.own())!.metadata;
  await stage.patchOwn({ metadata: { finalizers: [...finalizers, foreign] } });
}

async function unpin(stage: ContractStage): Promise<void> {
  const { finalizers = [] } = (await stage.own())!.metadata;
  await stage.patchOwn({ metadata: { finalizers: finalizers.filter((each) => each !== foreign) } });
}

const operation = (value: string | null) => ({ metadata: { annotations: { [names.operationAnnotation]: value } } });

/** Every sentence of the contract that can be seen from outside. */
export const contractChecks: readonly ContractCheck[] = [
  {
    heading: 'Reconciliation Flow',
    sentence: 'Update component status.',
    async run(stage) {
      await live(stage);
      const { status, metadata } = (await stage.own())!;
      assert.equal(status?.observedGenerations?.resource, metadata.generation);
      assert.equal(status?.observedGenerations?.managedControlPlane, 1);
    },
  },
  {
    heading: 'Reconciliation Flow',
    sentence: 'The status should also be updated in case of an error, so that the failure is visible.',
    async run(stage) {
      await stage.createDependencies();
      stage.subject.sabotage(true);
      await stage.createOwn();
      const type = reconciliationType(stage.subject.type);
      await stage.until('the failure shows in a condition', async () =>
        (await stage.own())?.status?.conditions?.some(
          (each) => each.type === type && each.status === 'False' && each.message,
        ),
      );
      stage.subject.sabotage(false);
      await stage.settled();
    },
  },
  {
    heading: 'Create/Update',
    sentence: 'Ensure finalizer on own component resource.',
    async run(stage) {
      await live(stage);
      assert((await stage.own())?.metadata.finalizers?.includes(finalizer(stage.subject.type)));
    },
  },
  {
    heading: 'Create/Update',
    sentence: 'Ensure dependency finalizers on all resources of components depended on.',
    async run(stage) {
      await live(stage);
      for (const type of stage.subject.dependsOn) {
        const { finalizers = [] } = (await stage.get(type))!.metadata;
        assert(finalizers.includes(dependencyFinalizer(stage.subject.type)), `no dependency finalizer on ${type}`);
      }
    },
  },
  {
    heading: 'Create/Update',
    sentence: 'Ensure finalizer on own component resource before performing actual component logic.',
    async run(stage) {
      await stage.createDependencies();
      stage.subject.sabotage(true);
      await stage.createOwn();
      await stage.until('it has its finalizer although its work fails', async () =>
        (await stage.own())?.metadata.finalizers?.includes(finalizer(stage.subject.type)),
      );
    },
  },
  {
    heading: 'Delete',
    sentence: 'Do not proceed with any actual deletion logic if there are dependency finalizers left!',
    async run(stage) {
      await live(stage);
      await pin(stage);
      await stage.deleteOwn();
      await stage.wait();
      assert((await stage.own()) !== undefined, 'the resource is gone');
      assert(await stage.hasMade(), 'what it made is gone');
      await unpin(stage);
      await stage.until('it goes when nobody needs it any more', async () => !(await stage.own()));
      assert(!(await stage.hasMade()), 'what it made is still there');
    },
  },
  {
    heading: 'Delete',
    sentence: 'If there are dependency finalizers, update the status accordingly.',
    async run(stage) {
      await live(stage);
      await pin(stage);
      await stage.deleteOwn();
      await stage.until('a condition says what the deletion waits for', async () =>
        (await stage.own())?.status?.conditions?.some(
          ({ reason, message }) => reason === 'DeletionWaitingForDependingComponents' && message?.includes('somebody'),
        ),
      );
    },
  },
  {
    heading: 'Delete',
    sentence: 'Perform actual component deletion logic.',
    async run(stage) {
      await live(stage);
      await stage.deleteOwn();
      await stage.until('it is gone', async () => !(await stage.own()));
      assert(!(await stage.hasMade()), 'what it made is still there');
    },
  },
  {
    heading: 'Delete',
    sentence: 'Remove own dependency finalizers from all resources of components depended on.',
    async run(stage) {
      await live(stage);
      await stage.deleteOwn();
      await stage.until('it is gone', async () => !(await stage.own()));
      for (const type of stage.subject.dependsOn)
        assert.deepEqual((await stage.get(type))!.metadata.finalizers ?? [], []);
    },
  },
  {
    heading: 'Delete',
    sentence: 'Remove own finalizer from own resource, after those on the components depended on.',
    async run(stage) {
      await live(stage);
      stage.requests.length = 0;
      await stage.deleteOwn();
      await stage.until('it is gone', async () => !(await stage.own()));
      const own = stage.requests.findLastIndex((request) => changesFinalizers(request, stage.subject.type));
      assert(own >= 0, 'it did not take its own finalizer off');
      for (const type of stage.subject.dependsOn) {
        const others = stage.requests.findLastIndex((request) => changesFinalizers(request, type));
        assert(others >= 0 && others < own, `its own finalizer went before the one on ${type}`);
      }
    },
  },
  {
    heading: 'Delete',
    sentence: 'If the deletion has to wait for something: update status accordingly and requeue resource.',
    async run(stage) {
      await live(stage);
      stage.subject.sabotage(true);
      await stage.deleteOwn();
      await stage.until('a condition says that it does not go', async () =>
        (await stage.own())?.status?.conditions?.some(({ status, message }) => status !== 'True' && message),
      );
      assert((await stage.own())?.metadata.finalizers?.includes(finalizer(stage.subject.type)));
      stage.subject.sabotage(false);
      await stage.until('it goes when it can', async () => !(await stage.own()));
      assert(!(await stage.hasMade()), 'what it made is still there');
    },
  },
  {
    heading: 'No-Gos for Component Controllers',
    sentence: "Must not modify any component resource's spec, including their own one.",
    async run(stage) {
      await live(stage);
      for (const type of [stage.subject.type, ...stage.subject.dependsOn]) {
        assert.equal((await stage.get(type))!.metadata.generation, 1, `the spec of ${type} was changed`);
      }
      const written = allTypes.flatMap((type) =>
        stage.requests.filter(({ method, path }) => method === 'PUT' && path === pathOf(type)),
      );
      assert.deepEqual(written, []);
    },
  },
  {
    heading: 'No-Gos for Component Controllers',
    sentence: 'Must not read or modify the owning ManagedControlPlane.',
    async run(stage) {
      await live(stage);
      await stage.deleteOwn();
      await stage.until('it is gone', async () => !(await stage.own()));
      const touched = stage.requests.filter(({ path }) => path.split('/').includes(ManagedControlPlane.plural));
      assert.deepEqual(touched, []);
    },
  },
  {
    heading: 'No-Gos for Component Controllers',
    sentence: "Must not expose secret/internal information in a component's condition or external status.",
    async run(stage) {
      const seen: string[] = [];
      const look = async (): Promise<void> => {
        const { status = {} } = (await stage.own())!;
        seen.push(JSON.stringify([status.conditions, stage.subject.externalFields.map((field) => status[field])]));
      };
      await live(stage);
      await look();
      stage.subject.sabotage(true);
      await stage.patchOwn({ spec: { ...stage.subject.otherSpec } });
      await stage.until('the failure shows', async () =>
        (await stage.own())?.status?.conditions?.some(({ status }) => status === 'False'),
      );
      await look();
      for (const secret of stage.subject.secrets ?? []) {
        assert(!seen.some((text) => text.includes(secret)), 'the customer can see something internal');
      }
    },
  },
  ...reactions(),
  {
    heading: 'The Operation Annotation',
    sentence: 'reconcile: the controller is expected to remove the annotation and perform the reconciliation.',
    async run(stage) {
      await live(stage);
      // Nothing has changed but this: that its work fails now can only be found by doing it.
      stage.subject.sabotage(true);
      await stage.patchOwn(operation(operations.reconcile));
      await stage.until('the annotation is gone', async () => {
        const own = await stage.own();
        return own && own.metadata.annotations?.[names.operationAnnotation] === undefined;
      });
      await stage.until('it was reconciled', async () =>
        (await stage.own())?.status?.conditions?.some(({ status }) => status !== 'True'),
      );
      stage.subject.sabotage(false);
      await stage.settled();
    },
  },
  {
    heading: 'The Operation Annotation',
    sentence: 'ignore: it must not remove the annotation or change the resource in any way.',
    async run(stage) {
      await stage.createDependencies();
      await stage.createOwn({ [names.operationAnnotation]: operations.ignore });
      await stage.wait();
      const before = (await stage.own())!;
      assert.equal(before.status, undefined);
      assert.equal(before.metadata.finalizers, undefined);
      assert(!(await stage.hasMade()), 'it made something');
      await stage.patchOwn({
        metadata: { labels: { [names.mcpGenerationLabel]: '2' } },
        spec: { ...stage.subject.otherSpec },
      });
      const changed = (await stage.own())!;
      await stage.wait();
      assert.equal((await stage.own())!.metadata.resourceVersion, changed.metadata.resourceVersion);
    },
  },
  {
    heading: 'The Operation Annotation',
    sentence: 'ignore: a resource in deletion is treated as if it did not exist too.',
    async run(stage) {
      await live(stage);
      await stage.patchOwn(operation(operations.ignore));
      await stage.deleteOwn();
      await stage.wait();
      assert((await stage.own()) !== undefined && (await stage.hasMade()), 'it was taken away');
      await stage.patchOwn(operation(null));
      await stage.until('it goes when it is no longer ignored', async () => !(await stage.own()));
    },
  },
  {
    heading: 'Finalizers',
    sentence: 'A dependency that is not found or not ready: update own status and requeue for retry.',
    async run(stage) {
      await stage.createDependencies({ ready: false });
      await stage.createOwn();
      if (stage.subject.dependsOn.length === 0) {
        await stage.settled();
        return;
      }
      await stage.until('it says what it waits for', async () =>
        (await stage.own())?.status?.conditions?.some(({ status, reason }) => status !== 'True' && reason),
      );
      assert(!(await stage.hasMade()), 'it went on without its dependency');
      for (const type of stage.subject.dependsOn) await stage.makeReady(type);
      await stage.settled();
    },
  },
  {
    heading: 'Finalizers',
    sentence: 'A dependency that is ready for another generation of the ManagedControlPlane is not ready.',
    async run(stage) {
      await live(stage);
      if (stage.subject.dependsOn.length === 0) return;
      await stage.patchOwn({ metadata: { labels: { [names.mcpGenerationLabel]: '2' } } });
      await stage.until('it waits', async () =>
        (await stage.own())?.status?.conditions?.some(({ status, reason }) => status !== 'True' && reason),
      );
      for (const type of stage.subject.dependsOn) {
        const body = { metadata: { labels: { [names.mcpGenerationLabel]: '2' } } };
        await stage.cluster.client.patch(
          kindOf(type),
          { namespace: 'default', name: 'contract' },
          { type: 'merge', body },
        );
        await stage.makeReady(type);
      }
      await stage.settled();
    },
  },
  {
    heading: 'Conditions',
    sentence: "Each component resource's status is expected to contain at least one condition.",
    async run(stage) {
      await live(stage);
      const types = (await stage.own())!.status!.conditions!.map(({ type }) => type);
      assert(types.includes(healthyType(stage.subject.type)) && types.includes(reconciliationType(stage.subject.type)));
    },
  },
  {
    heading: 'Conditions',
    sentence: 'Each condition must have a globally unique identifier.',
    async run(stage) {
      await live(stage);
      const types = (await stage.own())!.status!.conditions!.map(({ type }) => type);
      assert.equal(new Set(types).size, types.length);
      const taken = allTypes.filter((type) => type !== stage.subject.type);
      const others = new Set([
        'MCPSuccessful',
        ...taken.flatMap((type) => [healthyType(type), reconciliationType(type)]),
      ]);
      assert.deepEqual(
        types.filter((type) => others.has(type)),
        [],
      );
    },
  },
  {
    heading: 'Conditions',
    sentence: 'A status that must be either True, False, or Unknown.',
    async run(stage) {
      for (const { status } of await conditionsOfAllKinds(stage)) assert.match(status, /^(?:True|False|Unknown)$/);
    },
  },
  {
    heading: 'Conditions',
    sentence: 'For any condition with a non-True status: a CamelCase reason and a human-readable message.',
    async run(stage) {
      for (const { type, status, reason = '', message = '' } of await conditionsOfAllKinds(stage)) {
        if (status === 'True') continue;
        assert.match(reason, /^[A-Z][A-Za-z0-9]*$/, `${type}: the reason is not CamelCase`);
        assert.match(message, /\S+ \S+/, `${type}: the message says nothing`);
      }
    },
  },
  {
    heading: 'Rules of the house',
    sentence: 'Run twice, it writes nothing the second time.',
    async run(stage) {
      await live(stage);
      await stage.wait();
      const before = (await stage.own())!.metadata.resourceVersion;
      stage.requests.length = 0;
      await stage.wait();
      const writes = stage.requests.filter(({ method, path }) => method !== 'GET' && !path.includes('/leases/'));
      assert.deepEqual(writes, []);
      assert.equal((await stage.own())!.metadata.resourceVersion, before);
    },
  },
];

/** What a component's controller has to react to, besides an operation. */
function reactions(): ContractCheck[] {
  const heading = 'Reacting to Changes';
  const intro = 'Component controllers are expected to reconcile their own resource if';
  return [
    {
      heading,
      sentence: `${intro} the resource's spec changes.`,
      async run(stage) {
        await live(stage);
        await stage.patchOwn({ spec: { ...stage.subject.otherSpec } });
        const { metadata } = await stage.settled();
        assert.equal(metadata.generation, 2);
      },
    },
    {
      heading,
      sentence: `${intro} the resource's labels change.`,
      async run(stage) {
        await live(stage);
        await stage.patchOwn({ metadata: { labels: { [names.mcpGenerationLabel]: '5' } } });
        await stage.until('it has observed the new generation', async () => {
          const observed = (await stage.own())?.status?.observedGenerations;
          return observed?.managedControlPlane === 5;
        });
      },
    },
    {
      heading,
      sentence: `${intro} a deletion timestamp was added to the resource.`,
      async run(stage) {
        await live(stage);
        await stage.deleteOwn();
        await stage.until('it is gone', async () => !(await stage.own()));
      },
    },
  ];
}

/** The conditions when all is well, and when the work fails. */
async function conditionsOfAllKinds(stage: ContractStage) {
  await live(stage);
  const well = (await stage.own())!.status!.conditions!;
  stage.subject.sabotage(true);
  await stage.patchOwn({ spec: { ...stage.subject.otherSpec } });
  const failing = await stage.until('the failure shows', async () => {
    const { conditions = [] } = (await stage.own())!.status ?? {};
    return conditions.some(({ status }) => status !== 'True') ? conditions : undefined;
  });
  return [...well, ...failing];
}
