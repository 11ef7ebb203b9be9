import { type Client, type Clock, ConfigMap, createClient, systemClock, undiciTransport } from '@slipway/kube';
import { findOracle } from '@slipway/oracles';
import { KillableTransport, type KillPoint, onReference, skipped } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { installRelease, rollbackRelease, uninstallRelease, upgradeRelease } from '../src/index.ts';
import { type HelmBench, openHelmBench } from './helm-bench.ts';

const without = skipped(
  !onReference,
  'releases that died with our process, in the hands of the helm commands: needs the real API server',
);
const helm3 = await findOracle('helm3');
const withoutHelm3 = skipped(
  onReference && !helm3.available,
  `releases shared with helm 3: ${helm3.available ? '' : helm3.reason}`,
);

/** Helm 3 is slow to start, and a sweep starts it some fifty times. */
const sweepsAll = process.env['SLIPWAY_SWEEP'] === 'full';
skipped(onReference && !sweepsAll, 'crashes of ours that helm 3 goes on after: SLIPWAY_SWEEP=full runs them');

const files = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\nappVersion: "2"\n',
  'values.yaml': 'greeting: hello\nextra: true\n',
  'templates/config.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-config
data:
  greeting: {{ .Values.greeting | quote }}
{{- if .Values.extra }}
  extra: "yes"
{{- end }}
`,
  'templates/extra.yaml': `{{- if .Values.extra }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-extra
{{- end }}
`,
};

/** Whoever works on a release. */
interface Hand {
  install(name: string): Promise<void>;
  upgrade(name: string, values: Record<string, unknown>): Promise<void>;
  rollback(name: string, revision: number): Promise<void>;
  uninstall(name: string): Promise<void>;
}

const handNames = ['ours', 'helm 3', 'helm 4'] as const;
type HandName = (typeof handNames)[number];

describe.skipIf(without)('a release whose process died goes on in any hands', { timeout: 300_000 }, () => {
  let bench: HelmBench;
  const hands = {} as Record<HandName, Hand>;

  const helm = (program: string, ...args: string[]): Promise<string> =>
    bench.helm(program, ...args, '--namespace', 'default');

  function handOf(program: string): Hand {
    const { chartFolder } = bench;
    const setFlags = (values: Record<string, unknown>): string[] =>
      Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${String(value)}`]);
    return {
      install: async (name) => void (await helm(program, 'install', name, chartFolder)),
      upgrade: async (name, values) => void (await helm(program, 'upgrade', name, chartFolder, ...setFlags(values))),
      rollback: async (name, revision) => void (await helm(program, 'rollback', name, String(revision))),
      uninstall: async (name) => void (await helm(program, 'uninstall', name)),
    };
  }

  beforeAll(async () => {
    bench = await openHelmBench(files);
    const { chart, context } = bench;
    const namespace = 'default';
    hands.ours = {
      install: async (name) => void (await installRelease(context, chart, { name, namespace })),
      upgrade: async (name, values) => void (await upgradeRelease(context, chart, { name, namespace, values })),
      rollback: async (name, revision) => void (await rollbackRelease(context, { name, namespace, revision })),
      uninstall: async (name) => void (await uninstallRelease(context, { name, namespace })),
    };
    hands['helm 4'] = handOf(bench.helm4);
    if (helm3.available) hands['helm 3'] = handOf(helm3.path);
  });
  afterAll(async () => await bench?.[Symbol.asyncDispose]());

  const config = async (name: string) =>
    await bench.client.get(ConfigMap, { namespace: 'default', name: `${name}-config` });

  /** Our process dies at the first request that is told so. Answers whether it came to that. */
  async function dieAt(kill: KillPoint, work: (client: Client) => Promise<unknown>): Promise<boolean> {
    const transport = new KillableTransport(undiciTransport(bench.connection), kill);
    const client = createClient({ transport, fieldManager: 'helm' });
    await Promise.race([work(client).catch(() => undefined), untilDead(transport)]);
    return transport.dead;
  }

  /** Right after it said what it is about to do. */
  async function dieAtWork(work: (client: Client) => Promise<unknown>): Promise<void> {
    const kill: KillPoint = ({ method, path }, at) => at === 'after' && method === 'POST' && path.includes('/secrets');
    expect(await dieAt(kill, work)).toBe(true);
  }

  async function untilDead(transport: KillableTransport): Promise<void> {
    while (!transport.dead) await new Promise(setImmediate);
  }

  const refusal = async (work: Promise<unknown>): Promise<string> => {
    try {
      await work;
      return 'nothing was refused';
    } catch (error) {
      return (error as { stderr: string }).stderr;
    }
  };

  test.each(['helm 3', 'helm 4'] as const)(
    'an upgrade that died with our process is to %s what one of its own would be: it rolls back, and everybody goes on',
    async (which) => {
      if (withoutHelm3 && which === 'helm 3') return;
      const program = which === 'helm 3' && helm3.available ? helm3.path : bench.helm4;
      const name = `died-${which.replace(' ', '')}`;
      await hands.ours.install(name);
      await dieAtWork(async (client) => {
        const values = { greeting: 'never' };
        await upgradeRelease({ client, clock: systemClock }, bench.chart, { name, namespace: 'default', values });
      });
      expect(await refusal(helm(program, 'upgrade', name, bench.chartFolder))).toContain(
        'another operation (install/upgrade/rollback) is in progress',
      );
      await expect(hands.ours.upgrade(name, {})).rejects.toMatchObject({ code: 'Busy' });

      await hands[which].rollback(name, 1);
      await hands[which].upgrade(name, { greeting: 'helm' });
      expect((await config(name))?.data).toMatchObject({ greeting: 'helm' });
      await hands.ours.upgrade(name, { greeting: 'ours' });
      expect((await config(name))?.data).toMatchObject({ greeting: 'ours' });
      const history = JSON.parse(await helm(program, 'history', name, '-o', 'json')) as { status: string }[];
      expect(history.map(({ status }) => status)).toEqual([
        'superseded',
        'failed',
        'superseded',
        'superseded',
        'deployed',
      ]);
      await hands[which].uninstall(name);
    },
  );

  test.each(['helm 3', 'helm 4'] as const)(
    'an installation that died with our process is removed by %s, which then installs it',
    async (which) => {
      if (withoutHelm3 && which === 'helm 3') return;
      const name = `unborn-${which.replace(' ', '')}`;
      await dieAtWork(async (client) => {
        await installRelease({ client, clock: systemClock }, bench.chart, { name, namespace: 'default' });
      });
      await hands[which].uninstall(name);
      await hands[which].install(name);
      expect((await config(name))?.data).toMatchObject({ greeting: 'hello' });
      await hands[which].uninstall(name);
    },
  );

  /** Later than anybody waits for a sign of life. */
  const laterClock: Clock = { ...systemClock, now: () => systemClock.now() + 660_000 };

  const crashes = (['install', 'upgrade', 'rollback'] as const).flatMap((work) =>
    (sweepsAll ? handNames : (['ours', 'helm 4'] as const)).map((next) => [work, next] as const),
  );

  test.each(crashes)('our process dies at any write of its %s, and %s goes on', async (work, next) => {
    if (withoutHelm3 && next === 'helm 3') return;
    const namespace = 'default';
    const values = { greeting: 'bye', extra: false };
    let points = 0;
    for (let died = true; died;) {
      const name = `${work}-${next.replace(' ', '')}-${points}`;
      if (work !== 'install') await hands.ours.install(name);
      if (work === 'rollback') await hands.ours.upgrade(name, values);
      let writes = 0;
      const point = points;
      died = await dieAt(
        ({ method }, at) => at === 'after' && method !== 'GET' && writes++ === point,
        async (client) => {
          const context = { client, clock: systemClock };
          if (work === 'install') await installRelease(context, bench.chart, { name, namespace });
          else if (work === 'upgrade') await upgradeRelease(context, bench.chart, { name, namespace, values });
          else await rollbackRelease(context, { name, namespace, revision: 1 });
        },
      );
      if (next === 'ours') {
        const context = { client: bench.client, clock: laterClock };
        if (work === 'rollback') await rollbackRelease(context, { name, namespace, revision: 1 });
        await upgradeRelease(context, bench.chart, { name, namespace, values, install: true });
      } else {
        const isPending = (await statusOf(name)).startsWith('pending-');
        // What helm tells a person to do about an operation of its own that did not end.
        if (isPending && work === 'install') await hands[next].uninstall(name);
        else if (isPending) await hands[next].rollback(name, 1);
        if (isPending && work === 'install') await hands[next].install(name);
        await hands[next].upgrade(name, values);
      }
      expect((await config(name))?.data).toEqual({ greeting: 'bye' });
      expect(await bench.client.get(ConfigMap, { namespace, name: `${name}-extra` })).toBeUndefined();
      expect(await statusOf(name)).toBe('deployed');
      await hands['helm 4'].uninstall(name);
      points += 1;
    }
    expect(points).toBeGreaterThan(3);
  });

  async function statusOf(name: string): Promise<string> {
    const history = JSON.parse(await helm(bench.helm4, 'history', name, '-o', 'json')) as { status: string }[];
    return history.at(-1)!.status;
  }
});
