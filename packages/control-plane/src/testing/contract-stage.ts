import {
  isRecord,
  type KubeObject,
  type ObjectKey,
  systemClock,
  type Transport,
  type TransportRequest,
} from '@slipway/kube';
import type { Controller, LogEntry } from '@slipway/runtime';
import { testCluster, type TestCluster, type TestClusterOptions, type TestManager } from '@slipway/testing';

import type { ComponentResource } from '../component/component-resource.ts';
import { componentKinds, componentTypes, type ComponentType, kindOf } from '../component/component-type.ts';
import { names } from '../names.ts';
import { ManagedControlPlane } from '../api/managed-control-plane.ts';

/** A component as the contract's checks need it: its controller, and how to look at what it does. */
export interface ContractSubject {
  readonly type: ComponentType;
  readonly dependsOn: readonly ComponentType[];
  /** A spec it can live with, and another one. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly otherSpec: Readonly<Record<string, unknown>>;
  /** Its controller, made anew for each check. */
  controller(cluster: TestCluster): Controller;
  /** What has to be there before, such as Secrets. */
  prepare?(cluster: TestCluster, key: ObjectKey): Promise<void>;
  /** What the status of a dependency has to hold besides being ready. */
  dependencyStatus?(type: ComponentType): Readonly<Record<string, unknown>>;
  /** Whether what the component makes is there. */
  hasMade(cluster: TestCluster, key: ObjectKey): Promise<boolean>;
  /** Makes its work fail from now on, or well again. */
  sabotage(broken: boolean): void;
  /** Texts of which none may get into what the customer sees. */
  readonly secrets?: readonly string[];
  /** Fields of its status the customer sees. */
  readonly externalFields: readonly string[];
  readonly clusterOptions?: TestClusterOptions;
}

export const key: ObjectKey = { namespace: 'default', name: 'contract' };

/** A write the component's controller asked for. */
export interface RecordedRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly body: unknown;
}

/** A cluster on which one component's controller runs, and the check plays everybody else. */
export class ContractStage implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly subject: ContractSubject;
  readonly requests: RecordedRequest[] = [];
  #manager: TestManager | undefined;

  private constructor(subject: ContractSubject, cluster: TestCluster) {
    this.subject = subject;
    this.cluster = cluster;
  }

  static async open(subject: ContractSubject): Promise<ContractStage> {
    const options = subject.clusterOptions ?? {};
    const kinds = [ManagedControlPlane, ...Object.values(componentKinds), ...(options.kinds ?? [])];
    const cluster = await testCluster({ ...options, kinds });
    const stage = new ContractStage(subject, cluster);
    try {
      subject.sabotage(false);
      await subject.prepare?.(cluster, key);
      stage.#manager = await cluster.run([subject.controller(cluster)], {
        cluster: { transport: stage.#recorded(cluster.transport()) },
      });
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
    return stage;
  }

  /** What the controller wrote into its log. */
  get logs(): readonly LogEntry[] {
    return this.#manager?.logs ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]();
  }

  /** Plays the ManagedControlPlane controller: makes the component's resource. */
  async createOwn(annotations: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#create(this.subject.type, { ...this.subject.spec }, annotations);
  }

  /** Plays the controllers of the dependencies: they are there, and ready unless `ready` is false. */
  async createDependencies({ ready = true } = {}): Promise<void> {
    for (const type of this.subject.dependsOn) {
      await this.#create(type, specs[type], {});
      if (ready) await this.makeReady(type);
    }
  }

  async makeReady(type: ComponentType): Promise<void> {
    const { metadata } = (await this.get(type))!;
    const conditions = ['Healthy', 'Reconciliation'].map((suffix) => ({ type: `${type}${suffix}`, status: 'True' }));
    const observedGenerations = {
      resource: metadata.generation,
      managedControlPlane: Number(metadata.labels?.[names.mcpGenerationLabel]),
      internalConfiguration: -1,
    };
    const status = { conditions, observedGenerations, ...this.subject.dependencyStatus?.(type) };
    await this.cluster.client.patch(kindOf(type), key, { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  async get(type: ComponentType): Promise<ComponentResource | undefined> {
    return (await this.cluster.client.get(kindOf(type), key)) as ComponentResource | undefined;
  }

  async own(): Promise<ComponentResource | undefined> {
    return await this.get(this.subject.type);
  }

  async patchOwn(body: Record<string, unknown>): Promise<void> {
    await this.cluster.client.patch(kindOf(this.subject.type), key, { type: 'merge', body });
  }

  async deleteOwn(): Promise<void> {
    await this.cluster.client.delete(kindOf(this.subject.type), key);
  }

  async hasMade(): Promise<boolean> {
    return await this.subject.hasMade(this.cluster, key);
  }

  /** Lets the component come to rest: made, and its status about the newest spec. */
  async settled(): Promise<ComponentResource> {
    return await this.cluster.eventually(
      'the component has observed its newest spec and is well',
      async () => {
        const own = await this.own();
        const current = own?.status?.observedGenerations?.resource === own?.metadata.generation;
        const conditions = own?.status?.conditions ?? [];
        const well = conditions.length > 0 && conditions.every((condition) => condition.status === 'True');
        return current && well && (await this.hasMade()) ? own : undefined;
      },
      patience,
    );
  }

  /** Waits for something the contract demands. */
  async until<T>(what: string, check: () => T | Promise<T>): Promise<NonNullable<T>> {
    return await this.cluster.eventually(what, check, patience);
  }

  /** Long enough for every poll of the contract to have come round; where time is real, for whatever is going to happen at once. */
  async wait(): Promise<void> {
    await this.cluster.advance(this.cluster.clock === systemClock ? 1_000 : 150_000);
  }

  async #create(
    type: ComponentType,
    spec: Readonly<Record<string, unknown>>,
    annotations: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { apiVersion, kind } = kindOf(type);
    const labels = { [names.mcpGenerationLabel]: '1' };
    const metadata = { ...key, labels, annotations: { ...annotations } };
    await this.cluster.client.create({ apiVersion, kind, metadata, spec } as KubeObject);
  }

  #recorded(inner: Transport): Transport {
    return {
      send: async (request, signal) => {
        this.requests.push(recordOf(request));
        return await inner.send(request, signal);
      },
      open: (request, handler) => {
        this.requests.push(recordOf(request));
        return inner.open(request, handler);
      },
      close: () => inner.close(),
    };
  }
}

const patience = { withinMs: 3_600_000 };

/** Specs of dependencies the checks make. */
const specs: Readonly<Record<ComponentType, Readonly<Record<string, unknown>>>> = {
  APIServer: { type: 'Gardener' },
  Authentication: {},
  Authorization: { roleBindings: [] },
  Landscaper: {},
  CloudOrchestrator: {},
};

function recordOf({ method, path, body }: TransportRequest): RecordedRequest {
  return { method, path: path.split('?')[0]!, body: parsed(body) };
}

function parsed(body: string | Uint8Array | undefined): unknown {
  if (body === undefined) return undefined;
  try {
    return JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Whether a write touches the finalizers of a component's resource. */
export function changesFinalizers(request: RecordedRequest, type: ComponentType): boolean {
  if (request.method !== 'PATCH' || request.path !== pathOf(type)) return false;
  const operations = Array.isArray(request.body) ? (request.body as { path?: string }[]) : [];
  if (operations.some(({ path }) => path?.startsWith('/metadata/finalizers'))) return true;
  const metadata = isRecord(request.body) ? request.body['metadata'] : undefined;
  return isRecord(metadata) && 'finalizers' in metadata;
}

export function pathOf(type: ComponentType): string {
  const { group, version, plural } = kindOf(type);
  return `/apis/${group}/${version}/namespaces/${key.namespace}/${plural}/${key.name}`;
}

export const allTypes = componentTypes;
