import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startCluster, type ApiObject } from '../../src/index.ts';
import { clientLane } from './lane.ts';
import { runCommand } from './run-command.ts';

const lane = await clientLane('helm against the embedded server', ['helm']);

it.runIf('binaries' in lane)(
  'helm installs, upgrades, rolls back and uninstalls, and waits for what it did',
  { timeout: 300_000 },
  async () => {
    if (!('binaries' in lane)) return;
    const program = lane.binaries.helm;
    if (!program) throw new Error('helm was asked for and is not there');
    const home = await mkdtemp(join(tmpdir(), 'slipway-helm-'));
    try {
      await using cluster = await startCluster({ port: 0, tls: true, authorization: 'RBAC', controllers: 'workloads' });
      const kubeconfig = join(home, 'kubeconfig');
      await writeFile(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
      const helm = async (...args: string[]) => {
        const result = await runCommand(program, args, {
          cwd: home,
          env: { KUBECONFIG: kubeconfig, HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home },
          timeoutMs: 120_000,
        });
        if (result.code !== 0) throw new Error(`helm ${args.join(' ')}: ${result.stderr}${result.stdout}`);
        return result.stdout;
      };
      const read = async (path: string) => {
        const answer = await cluster.transport.send({ method: 'GET', path });
        return {
          status: answer.status,
          body: JSON.parse(answer.body.toString()) as ApiObject & { items: ApiObject[] },
        };
      };
      const imageOf = async () => {
        const { body } = await read('/apis/apps/v1/namespaces/default/deployments/boat');
        const { spec, status } = body as unknown as {
          spec: { template: { spec: { containers: { image: string }[] } } };
          status: { availableReplicas: number; updatedReplicas: number };
        };
        return [spec.template.spec.containers[0]!.image, status.availableReplicas, status.updatedReplicas];
      };
      const chart = join(import.meta.dirname, 'chart');

      expect(await helm('install', 'boat', chart, '--wait', '--timeout', '60s')).toContain('STATUS: deployed');
      expect(await imageOf()).toEqual(['web:1', 2, 2]);
      await helm('upgrade', 'boat', chart, '--set', 'image=web:2,replicas=3', '--wait', '--timeout', '60s');
      expect(await imageOf()).toEqual(['web:2', 3, 3]);
      await helm('rollback', 'boat', '1', '--wait', '--timeout', '60s');
      expect(await imageOf()).toEqual(['web:1', 2, 2]);
      expect(JSON.parse(await helm('history', 'boat', '-o', 'json'))).toMatchObject([
        { revision: 1, status: 'superseded' },
        { revision: 2, status: 'superseded' },
        { revision: 3, status: 'deployed' },
      ]);
      expect(JSON.parse(await helm('list', '-o', 'json'))).toMatchObject([{ name: 'boat', chart: 'harbour-0.1.0' }]);
      await helm('uninstall', 'boat', '--wait', '--timeout', '60s');
      expect((await read('/apis/apps/v1/namespaces/default/deployments/boat')).status).toBe(404);
      const { body } = await read('/api/v1/namespaces/default/secrets?labelSelector=owner%3Dhelm');
      expect(body.items).toEqual([]);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  },
);
