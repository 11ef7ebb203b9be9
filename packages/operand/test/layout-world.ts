import { CustomResourceDefinition, isConditionTrue, type Client, type Kind, type KubeObject } from '@slipway/kube';

import type { MakeHealthy } from './member-health.ts';
import { definitionOf } from './story.ts';
import type { Layout, LayoutMember } from './layouts.ts';

const builtIn: Readonly<Record<string, { apiVersion: string; plural: string }>> = {
  ConfigMap: { apiVersion: 'v1', plural: 'configmaps' },
  Secret: { apiVersion: 'v1', plural: 'secrets' },
  Service: { apiVersion: 'v1', plural: 'services' },
  PersistentVolumeClaim: { apiVersion: 'v1', plural: 'persistentvolumeclaims' },
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments' },
  Job: { apiVersion: 'batch/v1', plural: 'jobs' },
};

/** The objects of a layout, and whatever would run in it on a cluster with nodes: each member gets healthy when its needs are met. */
export class LayoutWorld {
  readonly objects: KubeObject[];
  /** What came to be healthy, in order. */
  readonly healthy: string[] = [];
  readonly #layout: Layout;
  readonly #client: Client;
  readonly #makeHealthy: MakeHealthy;
  readonly #group: string;

  constructor(layout: Layout, client: Client, makeHealthy: MakeHealthy) {
    this.#layout = layout;
    this.#client = client;
    this.#makeHealthy = makeHealthy;
    this.#group = `${layout.name.replaceAll(/[^a-z]+/g, '-')}.example.com`;
    const kinds = new Set(
      layout.members.filter((member) => !member.undefinedAtFirst).map((member) => kindName(member.is)),
    );
    const custom = [...kinds].filter((kind) => !builtIn[kind]);
    this.objects = [
      ...layout.members.map((member) => this.#object(member)),
      ...custom.map((kind) => definitionOf(this.#group, kind)),
    ];
  }

  /** One round: whoever has what it needs gets healthy and makes what it makes. */
  async turn(): Promise<void> {
    for (const member of this.#layout.members) {
      if (this.healthy.includes(member.is)) continue;
      const live = await this.#read(member.is);
      if (!live || !(await this.#meets(member.needs ?? []))) continue;
      if (!(await this.#makeHealthy(this.#client, this.#kind(member.is), live))) continue;
      for (const made of member.makes ?? []) await this.#make(made);
      this.healthy.push(member.is);
    }
  }

  /** Workloads that are not healthy yet. */
  unfinished(): string[] {
    const workloads = this.#layout.members.filter(({ is }) => kindName(is) === 'Deployment' || kindName(is) === 'Job');
    return workloads.map(({ is }) => is).filter((is) => !this.healthy.includes(is));
  }

  async #meets(needs: readonly string[]): Promise<boolean> {
    for (const need of needs)
      if (need.startsWith('+') ? !this.healthy.includes(need.slice(1)) : !(await this.#read(need))) return false;
    return true;
  }

  async #make(made: string): Promise<void> {
    if (kindName(made) === 'CustomResourceDefinition')
      await this.#client.create(definitionOf(this.#group, made.split('/')[1]!));
    else await this.#client.create(this.#object({ is: made }));
  }

  async #read(text: string): Promise<KubeObject | undefined> {
    const kind = this.#kind(text);
    if (!builtIn[kind.kind]) {
      const name = `${kind.plural}.${kind.group}`;
      if (!isConditionTrue(await this.#client.get(CustomResourceDefinition, { name }), 'Established')) return undefined;
    }
    return await this.#client.get(kind, { namespace: 'default', name: text.split('/')[1]! });
  }

  #kind(text: string): Kind {
    const kind = kindName(text);
    const known = builtIn[kind] ?? { apiVersion: `${this.#group}/v1`, plural: pluralOf(kind) };
    const [version, group] = known.apiVersion.split('/').reverse() as [string, string?];
    return { ...known, group: group ?? '', version, kind, scope: 'Namespaced' };
  }

  #object(member: LayoutMember): KubeObject {
    const [kind, name] = member.is.split('/') as [string, string];
    const metadata = { namespace: 'default', name };
    return { apiVersion: this.#kind(member.is).apiVersion, kind, metadata, ...contentOf(kind, name, member) };
  }
}

function kindName(text: string): string {
  return text.split('/')[0]!;
}

function pluralOf(kind: string): string {
  return `${kind.toLowerCase()}s`;
}

function contentOf(kind: string, name: string, member: LayoutMember): Record<string, unknown> {
  const template = (restartPolicy?: string) => ({
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'main', image: 'main:1' }], ...(restartPolicy ? { restartPolicy } : {}) },
  });
  switch (kind) {
    case 'Deployment':
      return { spec: { selector: { matchLabels: { app: name } }, template: template() } };
    case 'Job':
      return { spec: { template: template('Never') } };
    case 'Service':
      return { spec: { selector: { app: name }, ports: [{ port: 443, protocol: 'TCP' }] } };
    case 'PersistentVolumeClaim':
      return {
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: member.storageClass,
          resources: { requests: { storage: '1Gi' } },
        },
      };
    default:
      return {};
  }
}
