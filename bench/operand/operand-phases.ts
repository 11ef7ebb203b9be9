import { setTimeout as sleep } from 'node:timers/promises';

import {
  ConfigMap,
  CustomResourceDefinition,
  isConditionTrue,
  Namespace,
  newObject,
  toCustomResourceDefinition,
  type Client,
  type KubeObject,
} from '@slipway/kube';
import { Operand, operandOperator } from '@slipway/operand';

import { cpuMs, memoryOf } from '../lib/process-stats.ts';
import { type Bar, figure, type Table } from '../lib/report.ts';
import { Subject } from '../lib/subject.ts';
import type { AuditLog, RequestCounts } from './audit.ts';
import { everySecond, mixedObjects } from './objects.ts';

export interface OperandSetting {
  /** The bundled operator. */
  readonly operator: string;
  readonly kubeconfig: string;
  /** Goes to the cluster directly. */
  readonly client: Client;
  readonly audit: AuditLog;
  readonly count: number;
  readonly log: (line: string) => void;
}

const namespace = 'bench-operand';
const operandName = 'bench';
const first = { namespace, name: 'member-0' };
const second = { namespace, name: 'member-1' };

interface PhaseResult {
  readonly name: string;
  readonly ms: number;
  readonly cpuMs: number;
  readonly counts: RequestCounts;
}

/** The life of an Operand with many members, on a running operator. */
export async function measureOperand(setting: OperandSetting): Promise<{ bars: Bar[]; table: Table }> {
  const { client, count } = setting;
  for (const kind of operandOperator.kinds) await client.apply(toCustomResourceDefinition(kind));
  await until(async () => {
    for (const kind of operandOperator.kinds) {
      const found = await client.get(CustomResourceDefinition, { name: `${kind.plural}.${kind.group}` });
      if (!isConditionTrue(found, 'Established')) return false;
    }
    return true;
  });
  await client.create(newObject(Namespace, { metadata: { name: namespace } }));
  await using subject = new Subject(process.execPath, [
    '--expose-gc',
    setting.operator,
    '--kubeconfig',
    setting.kubeconfig,
  ]);
  await subject.said('ready');
  await sleep(2_000);
  const idle = await settledMemory(subject);

  const results: PhaseResult[] = [];
  const phase = async (name: string, act: () => Promise<unknown>, done: () => Promise<boolean>) => {
    setting.log(`Operand: ${name}`);
    await setting.audit.counts();
    const cpu = cpuMs(subject.pid);
    const begin = performance.now();
    await act();
    await until(done);
    const ms = performance.now() - begin;
    // What the operator does afterwards belongs to the change too.
    await sleep(1_500);
    results.push({ name, ms, cpuMs: cpuMs(subject.pid) - cpu, counts: await setting.audit.counts() });
    return results.at(-1)!;
  };
  const ready = async () => {
    const found = await client.get(Operand, { name: operandName });
    return (
      found !== undefined &&
      isConditionTrue(found, 'Ready') &&
      found.status?.observedGeneration === found.metadata.generation
    );
  };
  const setTo = (steadyState: readonly KubeObject[]) =>
    client.patch(Operand, { name: operandName }, { type: 'merge', body: { spec: { steadyState } } });
  const valueOf = async (key: { namespace: string; name: string }) =>
    (await client.get(ConfigMap, key))?.data?.['value'];

  const objects = mixedObjects(namespace, count);
  const changed = mixedObjects(namespace, count, true);
  await phase('installed', () => client.create(operandOf(objects)), ready);
  const full = await settledMemory(subject);
  await phase(
    'reconciled again',
    () =>
      client.patch(
        Operand,
        { name: operandName },
        { type: 'merge', body: { metadata: { annotations: { 'example.com/poke': 'now' } } } },
      ),
    async () => true,
  );
  const change = await phase(
    'one object changed in the spec',
    () => setTo(changed),
    async () => (await valueOf(first)) === 'changed',
  );
  const edited = await phase(
    'a member edited by hand, back',
    () => client.patch(ConfigMap, second, { type: 'merge', body: { data: { value: 'by hand' } } }),
    async () => (await valueOf(second)) === 'as it was',
  );
  const deleted = await phase(
    'a member deleted by hand, back',
    () => client.delete(ConfigMap, second),
    async () => (await valueOf(second)) === 'as it was',
  );
  await phase(
    'half removed (in the background, as the peers do)',
    () => setTo(everySecond(changed).stay),
    async () => {
      if (!(await ready())) return false;
      let left = 0;
      for await (const _object of client.list(ConfigMap, { namespace, labelSelector: 'app=bench' })) left += 1;
      return left === everySecond(changed).stay.filter(({ kind }) => kind === 'ConfigMap').length;
    },
  );

  const above = full - idle;
  return {
    table: {
      title: `An Operand with ${count} members (seen by polling every 20 ms)`,
      columns: ['', 'time', 'CPU of the operator', 'reads', 'lists', 'dry runs', 'writes'],
      rows: results.map(({ name, ms, cpuMs: cpu, counts }) => [
        name,
        figure(ms / 1000, 's'),
        figure(cpu / 1000, 's'),
        String(counts.gets),
        String(counts.lists),
        String(counts.dryRuns),
        String(counts.writes),
      ]),
    },
    bars: [
      {
        text: 'one changed object of an Operand found and written in under 1 s without a full pass of writes',
        value: `${figure(change.ms, 'ms')}, ${change.counts.writes} writes, ${change.counts.dryRuns} dry runs`,
        holds: change.ms < 1_000 && change.counts.dryRuns < count / 10,
      },
      {
        text: 'members changed by hand are back within 2 s',
        value: `edited ${figure(edited.ms, 'ms')}, deleted ${figure(deleted.ms, 'ms')}`,
        holds: Math.max(edited.ms, deleted.ms) < 2_000,
      },
      {
        text: `an Operand with ${count} members uses under 30 MB above idle`,
        value: `${figure(above, 'MB')} (${figure(full, 'MB')} against ${figure(idle, 'MB')}, after a collection)`,
        holds: above < 30,
      },
    ],
  };
}

function operandOf(steadyState: readonly KubeObject[]): KubeObject {
  return {
    apiVersion: Operand.apiVersion,
    kind: 'Operand',
    metadata: { name: operandName },
    spec: { checkDeploymentHealth: false, prunePolicy: 'Background', steadyState },
  } as unknown as KubeObject;
}

/**
 * Resident memory after the garbage is collected and its pages are given back: when two collections in a row have not made it
 * smaller. V8 gives pages back some seconds after a collection, unless the next one comes first.
 */
async function settledMemory(subject: Subject): Promise<number> {
  let least = Infinity;
  for (let inVain = 0; inVain < 2;) {
    process.kill(subject.pid, 'SIGUSR2');
    await sleep(9_000);
    const { residentMb } = memoryOf(subject.pid);
    inVain = residentMb > least - 1 ? inVain + 1 : 0;
    least = Math.min(least, residentMb);
  }
  return memoryOf(subject.pid).residentMb;
}

async function until(done: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 400_000;
  while (!(await done())) {
    if (performance.now() > end) throw new Error('waited in vain for an Operand');
    await sleep(20);
  }
}
