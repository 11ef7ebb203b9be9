import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findOperators, installObjects } from '@slipway/cli';
import { isConditionTrue, type Condition, type KubeObject } from '@slipway/kube';
import { parseManifests, refOf, refText } from '@slipway/manifests';
import { operandOperator } from '@slipway/operand';
import {
  ensureReferenceBinaries,
  freePorts,
  startReferenceCluster,
  type ReferenceCluster,
} from '@slipway/reference-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { bundle } from './bundle.ts';

const root = resolve(import.meta.dirname, '..', '..');
const chart = join(root, 'deploy', 'chart');
const onReference = process.env['SLIPWAY_CLUSTER'] === 'reference';
const namespace = 'slipway-system';

const operators = await findOperators();

interface Finished {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Programs on the real API server. Everything it starts ends with it. */
class Bench implements AsyncDisposable {
  readonly folder: string;
  readonly cluster: ReferenceCluster;
  readonly slipwayFile: string;
  readonly helmFile: string;
  readonly #children: ChildProcess[] = [];

  constructor(folder: string, cluster: ReferenceCluster, slipwayFile: string, helmFile: string) {
    this.folder = folder;
    this.cluster = cluster;
    this.slipwayFile = slipwayFile;
    this.helmFile = helmFile;
  }

  /** Starts a program; its output is kept. */
  start(file: string, argv: readonly string[], kubeconfig = this.cluster.kubeconfigPath) {
    const child = spawn(file, argv, {
      cwd: this.folder,
      env: { ...process.env, KUBECONFIG: kubeconfig, HOME: this.folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    const text = { out: '', err: '' };
    const done = once(child, 'close');
    child.stdout.on('data', (chunk: Buffer) => (text.out += String(chunk)));
    child.stderr.on('data', (chunk: Buffer) => (text.err += String(chunk)));
    const says = (part: string): Promise<void> =>
      new Promise((resolvePromise, reject) => {
        const look = () => {
          if (text.err.includes(part)) resolvePromise();
        };
        child.stderr.on('data', look);
        child.once('close', () => reject(new Error(`ended without '${part}':\n${text.out}${text.err}`)));
        look();
      });
    return { child, text, says, done };
  }

  async call(file: string, ...argv: string[]): Promise<Finished> {
    const { text, done, child } = this.start(file, argv);
    await done;
    return { code: child.exitCode ?? -1, ...text };
  }

  /** Calls a program that has to succeed. */
  async must(file: string, ...argv: string[]): Promise<string> {
    const { code, out, err } = await this.call(file, ...argv);
    if (code !== 0) throw new Error(`${[file, ...argv].join(' ')} ended with ${code}:\n${out}${err}`);
    return out;
  }

  helm(...argv: string[]): Promise<string> {
    return this.must(this.helmFile, ...argv);
  }

  kubectl(...argv: string[]): Promise<string> {
    return this.must(this.cluster.binaries.kubectl, ...argv);
  }

  slipway(...argv: string[]): Promise<Finished> {
    return this.call(process.execPath, this.slipwayFile, ...argv);
  }

  /** What is installed: everything but what comes and goes by itself. */
  async everything(): Promise<string[]> {
    const kinds =
      'namespaces,customresourcedefinitions,deployments,services,secrets,configmaps,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations';
    const lines = await this.kubectl(
      'get',
      kinds,
      '-A',
      '--no-headers',
      '-o',
      'custom-columns=K:.kind,S:.metadata.namespace,N:.metadata.name',
    );
    return lines
      .split('\n')
      .map((line) => line.trim().replaceAll(/ +/g, ' '))
      .filter(Boolean)
      .sort();
  }

  /** A kubeconfig of a ServiceAccount: what its pods have. */
  async accountKubeconfig(account: string): Promise<string> {
    const token = (await this.kubectl('create', 'token', account, '-n', namespace)).trim();
    const file = join(this.folder, `${account}.kubeconfig`);
    const { url, ca } = this.cluster;
    await writeFile(
      file,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [
          { name: 'c', cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
        ],
        users: [{ name: 'u', user: { token } }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace } }],
        'current-context': 'c',
      }),
    );
    return file;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await this.cluster.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Namespaces stay when what installed them goes, with what the cluster itself puts into each. */
const stays = /^(Namespace <none> \S+|ConfigMap \S+ kube-root-ca\.crt|ServiceAccount \S+ default)$/;

/** Kinds that are only deleted when their user says it twice. */
const deletionNeeds = new Map([['ManagedControlPlane', 'confirmation.openmcp.cloud/deletion=true']]);

/** An object without what Helm adds to it. */
function plain(object: KubeObject): KubeObject {
  const labels = { ...object.metadata.labels };
  delete labels['helm.sh/chart'];
  delete labels['app.kubernetes.io/managed-by'];
  const metadata = { ...object.metadata, labels };
  if (Object.keys(labels).length === 0) delete (metadata as { labels?: unknown }).labels;
  return { ...object, metadata };
}

const byName = (objects: readonly KubeObject[]) =>
  Object.fromEntries(objects.map((object) => [refText(refOf(object)), plain(object)]));

describe.skipIf(!onReference)('on the real API server (SLIPWAY_CLUSTER=reference)', () => {
  let bench: Bench;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'slipway-chart-'));
    const { file } = await bundle({ directory: join(folder, 'dist') });
    const found = await ensureReferenceBinaries({ tools: ['helm'] });
    if (!found.available || found.helm === undefined) throw new Error('there is no helm to test the chart with');
    bench = new Bench(folder, await startReferenceCluster({ controllers: true, simulateNodes: 1 }), file, found.helm);
  }, 300_000);

  afterAll(() => bench[Symbol.asyncDispose]());

  test('helm lint finds nothing wrong', async () => {
    expect(await bench.helm('lint', '--strict', chart)).toContain('0 chart(s) failed');
  });

  test('the chart renders what slipway install applies', async () => {
    const rendered = await bench.helm(
      'template',
      'slipway',
      chart,
      '-n',
      namespace,
      '--set',
      'operators={operand}',
      '--set',
      'crds.keep=false',
    );
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    const wanted = installObjects([operandOperator], { version }).filter((object) => object.kind !== 'Namespace');
    expect(byName(parseManifests(rendered, { source: 'chart' }))).toEqual(byName(wanted));
  });

  test('a value that is not in the schema is refused', async () => {
    const { code, err } = await bench.call(bench.helmFile, 'template', 'slipway', chart, '--set', 'replcas=3');
    expect(code).not.toBe(0);
    expect(err).toContain("additional properties 'replcas' not allowed");
  });

  describe('after helm install, the bundle under the account of the chart', () => {
    const running = new Map<string, ReturnType<Bench['start']>>();

    beforeAll(async () => {
      await bench.helm('install', 'slipway', chart, '-n', namespace, '--create-namespace', '--set', 'crds.keep=false');
      // What has no example waits for what only its user can give; its pod says so.
      for (const { name, exampleFlags = {}, webhooks = [] } of operators.filter(
        ({ examples }) => examples.length > 0,
      )) {
        const settings = Object.entries(exampleFlags).map(([flag, value]) => `--${name}-${flag}=${value}`);
        if (webhooks.length > 0) {
          const [port] = await freePorts(1);
          settings.push(`--webhook-port=${port}`, `--webhook-url=https://127.0.0.1:${port}`);
        }
        const manager = bench.start(
          process.execPath,
          [bench.slipwayFile, 'run', name, '--leader-elect', '--health-port=0', '--metrics-port=0', ...settings],
          await bench.accountKubeconfig(`slipway-${name}`),
        );
        running.set(name, manager);
        await manager.says('"msg":"leading"');
        await manager.says('"msg":"ready"');
      }
    }, 300_000);

    const examples = operators.flatMap((operator) =>
      operator.examples.map((example) => ({ title: `${operator.name}/${example.name}`, operator, example })),
    );

    const at = ({ kind, metadata }: KubeObject) => [
      kind.toLowerCase(),
      metadata.name!,
      '-n',
      metadata.namespace ?? 'default',
    ];

    /** Kinds with a condition `Ready`, and those with one word in their status. */
    async function isReady(object: KubeObject): Promise<boolean> {
      const found = JSON.parse(await bench.kubectl('get', ...at(object), '-o', 'json')) as {
        status?: { status?: string; conditions?: Condition[] };
      };
      return isConditionTrue(found, 'Ready') || found.status?.status === 'Ready';
    }

    async function endsInOrder({ child, done, text }: ReturnType<Bench['start']>): Promise<void> {
      child.kill('SIGTERM');
      await done;
      // Its last words say why it ended otherwise.
      const end = child.exitCode === 0 ? '' : text.err.slice(-2000);
      expect({ code: child.exitCode, end }).toEqual({ code: 0, end: '' });
      expect(text.err).not.toMatch(/forbidden/i);
    }

    test.each(examples)(
      '$title goes through its life, nothing is forbidden, and SIGTERM ends it with 0',
      { timeout: 600_000 },
      async ({ operator, example }) => {
        const before = await bench.everything();
        const objects = parseManifests(example.manifest, { source: example.name });
        const file = join(bench.folder, `${example.name}.yaml`);
        await writeFile(file, example.manifest);
        await bench.kubectl('apply', '-f', file);
        const owned = objects.filter((object) =>
          operator.kinds.some((kind) => kind.apiVersion === object.apiVersion && kind.kind === object.kind),
        );
        expect(owned).not.toEqual([]);
        for (const object of owned)
          await expect.poll(() => isReady(object), { timeout: 150_000, interval: 500 }).toBe(true);
        const installed = await bench.everything();
        expect(installed.filter((name) => !before.includes(name)).length).toBeGreaterThan(owned.length);
        for (const object of owned) {
          const confirmation = deletionNeeds.get(object.kind);
          if (confirmation) await bench.kubectl('annotate', ...at(object), confirmation);
          await bench.kubectl('delete', '--timeout=150s', ...at(object));
        }
        // Before the namespace goes in which it may have its lease: without one it would end by itself.
        if (example === operator.examples.at(-1)) await endsInOrder(running.get(operator.name)!);
        await bench.kubectl('delete', '--ignore-not-found', '--timeout=150s', '-f', file);
        const left = async () =>
          (await bench.everything()).filter((name) => !before.includes(name) && !stays.test(name));
        await expect.poll(left, { timeout: 150_000, interval: 500 }).toEqual([]);
      },
    );
  });

  test('an account without the roles is refused: 4', async () => {
    await bench.kubectl('create', 'serviceaccount', 'stranger', '-n', namespace);
    const { done, child, text } = bench.start(
      process.execPath,
      [bench.slipwayFile, 'run', 'operand'],
      await bench.accountKubeconfig('stranger'),
    );
    await done;
    expect(text.err).toContain('not allowed to list operands.operand.run.cloud.google.com');
    expect(child.exitCode).toBe(4);
  });

  test('the plain manifests are accepted', async () => {
    const applied = await bench.kubectl('apply', '-k', join(root, 'deploy', 'kustomize'), '--dry-run=server');
    for (const operator of operators) expect(applied).toContain(`deployment.apps/slipway-${operator.name}`);
  });

  test('after helm uninstall, slipway install and uninstall leave nothing', async () => {
    await bench.helm('uninstall', 'slipway', '-n', namespace);
    await bench.kubectl('delete', 'namespace', namespace, '--timeout=150s');
    const installed = await bench.slipway('install', 'operand', '--timeout', '150s');
    expect(installed.err).toBe('');
    expect(installed.out).toContain('installed; ');
    const removed = await bench.slipway('uninstall', '--timeout', '150s');
    expect(removed.err).toBe('');
    expect(removed.out).toContain('nothing of slipway is left');
    const left = await bench.kubectl('get', 'crd,clusterrole,clusterrolebinding,namespace', '-o', 'name');
    expect(left.split('\n').filter((name) => /slipway|operand/.test(name))).toEqual([]);
  });
});

test.runIf(!onReference)('the chart on the real API server', (context) => {
  context.skip('needs SLIPWAY_CLUSTER=reference: helm and kube-apiserver are built for it (npm run test:reference)');
});
