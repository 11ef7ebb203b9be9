import { hasFinalizer, isTerminating, type KubeObject, type ObjectKey } from '@slipway/kube';
import {
  type Controller,
  controller,
  finalizersChanged,
  or,
  type ReconcileContext,
  requeueAfter,
} from '@slipway/runtime';

import { APIServer, Authentication } from '../src/api/components.ts';
import { ManagedControlPlane } from '../src/api/managed-control-plane.ts';
import type { ComponentCondition, ReadonlyComponent } from '../src/component/component-resource.ts';
import { dependencyFinalizer, finalizer } from '../src/component/component-type.ts';
import { getCreatedFromGeneration } from '../src/component/created-from-generation.ts';
import { getDependents } from '../src/component/dependency-finalizers.ts';
import { defaultComponentControllerPredicates, statusChanged } from '../src/component/predicates.ts';
import { isDependencyReady } from '../src/component/readiness.ts';
import { names } from '../src/names.ts';
import { canary, type Workshop } from './plain-subject.ts';

/** One way not to keep the contract. */
export type Fault =
  | 'writes no status'
  | 'hides failures'
  | 'has no finalizer'
  | 'has no dependency finalizers'
  | 'works before its finalizer'
  | 'does not wait for dependants'
  | 'does not say that it waits for dependants'
  | 'does not clean up'
  | 'leaves dependency finalizers'
  | 'takes its own finalizer off first'
  | 'goes although it cannot clean up'
  | 'writes its spec'
  | 'reads the ManagedControlPlane'
  | 'tells secrets'
  | 'does not notice a new spec'
  | 'does not notice new labels'
  | 'does not notice its deletion'
  | 'leaves the reconcile annotation'
  | 'only takes the reconcile annotation off'
  | 'does not heed ignore'
  | 'does not heed ignore in deletion'
  | 'does not wait for dependencies'
  | 'takes an old dependency for ready'
  | 'has no conditions'
  | 'has the condition of another'
  | 'makes up a status'
  | 'gives no reason'
  | 'writes on every pass';

const pollMs = 30_000;

/** The Authentication component without the library, in the order of the document; with a fault it breaks one sentence of it. */
export function handWritten(workshop: Workshop, fault?: Fault): Controller {
  const blind = ['does not notice a new spec', 'does not notice new labels', 'does not notice its deletion'];
  const seen = new Set<string>();
  return controller({
    name: 'authentication',
    for: Authentication,
    predicates:
      fault === 'does not heed ignore' || fault === 'does not heed ignore in deletion'
        ? []
        : defaultComponentControllerPredicates,
    watches: [
      {
        kind: APIServer,
        predicates: [or(statusChanged, finalizersChanged)],
        map: (event: { key: ObjectKey }) => [event.key],
      },
    ],
    async reconcile(context, key) {
      const own = (await context.client.get(Authentication, key)) as ReadonlyComponent | undefined;
      if (own === undefined) return undefined;
      const trigger = `${own.metadata.generation}/${JSON.stringify(own.metadata.labels)}/${isTerminating(own)}`;
      const first = seen.size === 0 || own.status?.observedGenerations === undefined;
      if (!first && fault !== undefined && blind.includes(fault) && !seen.has(trigger)) {
        const kind = isTerminating(own) ? 'its deletion' : own.metadata.generation === 1 ? 'new labels' : 'a new spec';
        if (fault.endsWith(kind)) return undefined;
      }
      seen.add(trigger);
      return await new Pass(context, key, own, workshop, fault).run();
    },
  });
}

class Pass {
  readonly #context: ReconcileContext;
  readonly #key: ObjectKey;
  readonly #own: ReadonlyComponent;
  readonly #workshop: Workshop;
  readonly #fault: Fault | undefined;

  constructor(
    context: ReconcileContext,
    key: ObjectKey,
    own: ReadonlyComponent,
    workshop: Workshop,
    fault: Fault | undefined,
  ) {
    this.#context = context;
    this.#key = key;
    this.#own = own;
    this.#workshop = workshop;
    this.#fault = fault;
  }

  async run() {
    const { client } = this.#context;
    const operation = this.#own.metadata.annotations?.[names.operationAnnotation];
    const heeds =
      !this.#has('does not heed ignore') &&
      !(this.#has('does not heed ignore in deletion') && isTerminating(this.#own));
    if (operation === 'ignore' && heeds) return undefined;
    if (operation === 'reconcile' && !this.#has('leaves the reconcile annotation')) {
      const body = { metadata: { annotations: { [names.operationAnnotation]: null } } };
      await client.patch(Authentication, this.#key, { type: 'merge', body });
      if (this.#has('only takes the reconcile annotation off')) return undefined;
    }
    if (this.#has('reads the ManagedControlPlane')) await client.get(ManagedControlPlane, this.#key);

    const apiServer = (await client.get(APIServer, this.#key)) as ReadonlyComponent | undefined;
    if (!this.#isReady(apiServer)) {
      await this.#status('False', 'WaitingForDependencies', 'Waiting for APIServer dependency to be ready.');
      return requeueAfter(pollMs);
    }
    try {
      return isTerminating(this.#own) ? await this.#remove(apiServer!) : await this.#apply(apiServer!);
    } catch (error) {
      const message = this.#has('tells secrets') ? String(error) : 'The identity providers could not be set up.';
      if (!this.#has('hides failures')) await this.#status('False', 'Failed', message);
      return requeueAfter(pollMs);
    }
  }

  async #apply(apiServer: ReadonlyComponent) {
    const { client } = this.#context;
    if (this.#has('works before its finalizer')) this.#workshop.work(true);
    if (!this.#has('has no finalizer') && !hasFinalizer(this.#own, finalizer('Authentication')))
      await client.addFinalizer(this.#own as KubeObject, finalizer('Authentication'));
    if (!this.#has('has no dependency finalizers') && !hasFinalizer(apiServer, dependencyFinalizer('Authentication')))
      await client.addFinalizer(apiServer as KubeObject, dependencyFinalizer('Authentication'));
    this.#workshop.work(true);
    if (this.#has('writes its spec')) {
      const body = { spec: { enableSystemIdentityProvider: true } };
      await client.patch(Authentication, this.#key, { type: 'merge', body });
    }
    await this.#status('True');
    return this.#has('writes on every pass') ? requeueAfter(pollMs) : undefined;
  }

  async #remove(apiServer: ReadonlyComponent) {
    const { client } = this.#context;
    const dependents = getDependents(this.#own);
    if (dependents.length > 0 && this.#has('does not wait for dependants')) this.#workshop.work(false);
    if (dependents.length > 0) {
      const silent = this.#has('does not say that it waits for dependants');
      const reason = 'DeletionWaitingForDependingComponents';
      await this.#status(
        'True',
        silent ? undefined : reason,
        silent ? undefined : `Waiting for [${dependents.join(', ')}]`,
      );
      return requeueAfter(pollMs);
    }
    const own = finalizer('Authentication');
    if (!hasFinalizer(this.#own, own) && !this.#has('has no finalizer')) return undefined;
    if (!this.#has('does not clean up') && !(this.#has('goes although it cannot clean up') && this.#workshop.broken))
      this.#workshop.work(false);
    if (this.#has('takes its own finalizer off first')) await client.removeFinalizer(this.#own as KubeObject, own);
    if (!this.#has('leaves dependency finalizers') && hasFinalizer(apiServer, dependencyFinalizer('Authentication')))
      await client.removeFinalizer(apiServer as KubeObject, dependencyFinalizer('Authentication'));
    if (!this.#has('takes its own finalizer off first')) await client.removeFinalizer(this.#own as KubeObject, own);
    return undefined;
  }

  #isReady(apiServer: ReadonlyComponent | undefined): boolean {
    if (this.#has('does not wait for dependencies')) return apiServer !== undefined;
    if (apiServer === undefined) return false;
    const own = getCreatedFromGeneration(this.#own);
    const observed = this.#has('takes an old dependency for ready') ? getCreatedFromGeneration(apiServer) : own;
    return isDependencyReady(apiServer, observed);
  }

  async #status(status: 'True' | 'False', reason?: string, message?: string): Promise<void> {
    if (this.#has('writes no status')) return;
    const failed = reason === 'Failed' ? 'False' : 'True';
    const health = this.#has('makes up a status') && status === 'False' ? 'Bad' : status;
    const said = this.#has('gives no reason') ? {} : { reason, message };
    const other = this.#has('has the condition of another') ? 'LandscaperHealthy' : 'AuthenticationHealthy';
    const conditions = [
      { type: other, status: health, ...said },
      { type: 'AuthenticationReconciliation', status: failed, ...said },
    ].map((condition) => JSON.parse(JSON.stringify(condition)) as ComponentCondition);
    const next = {
      conditions: this.#has('has no conditions') ? conditions.slice(0, 1) : conditions,
      observedGenerations: { resource: this.#own.metadata.generation, ...getCreatedFromGeneration(this.#own) },
      ...(this.#has('writes on every pass') ? { access: access(this.#context.clock.now()) } : {}),
    };
    if (JSON.stringify(next) === JSON.stringify(this.#own.status)) return;
    await this.#context.client.patch(
      Authentication,
      this.#key,
      { type: 'merge', body: { status: next } },
      { subresource: 'status' },
    );
  }

  #has(fault: Fault): boolean {
    return this.#fault === fault;
  }
}

function access(nowMs: number) {
  return { name: canary.slice(0, 2), namespace: 'default', key: String(nowMs) };
}
